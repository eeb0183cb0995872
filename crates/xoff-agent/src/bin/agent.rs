//! `xoff agent` without Python, for tests and profilers: `agent CONFIG` or `agent --cleanup`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let result = if argument == "--cleanup" {
        xoff_agent::cleanup().map(drop).map_err(|error| error.to_string())
    } else {
        xoff_agent::Config::read(std::path::Path::new(&argument))
            .and_then(|config| xoff_agent::run(&config).map_err(|error| error.to_string()))
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: an agent needs Linux");
    ExitCode::FAILURE
}
