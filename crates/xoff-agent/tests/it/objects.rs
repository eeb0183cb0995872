//! The eBPF objects in the package are made from their sources. Needs clang and the headers of
//! libbpf; otherwise the test is skipped, and says why.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use libbpf_rs::{ObjectBuilder, OpenObject};

fn open(path: &Path) -> OpenObject {
    ObjectBuilder::default().open_file(path).unwrap()
}

/// Names of programs and maps.
fn parts(object: &OpenObject) -> (Vec<String>, Vec<String>) {
    let text = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
    let mut programs: Vec<_> = object.progs().map(|program| text(program.name())).collect();
    programs.sort();
    let mut maps: Vec<_> = object.maps().map(|map| text(map.name())).collect();
    maps.sort();
    (programs, maps)
}

#[test]
fn the_objects_are_those_of_the_sources() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let folder = std::env::temp_dir().join(format!("xoff-agent-objects-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let built = Command::new(source.join("build")).arg(&folder).stderr(Stdio::null()).status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("skipped: needs clang, llvm-strip and the headers of libbpf");
        return;
    }
    let compiler = |folder: &Path| fs::read_to_string(folder.join("compiler.txt")).unwrap();
    let is_same_compiler = compiler(&folder) == compiler(&source);
    for name in ["flowtune.bpf.o", "retire.bpf.o"] {
        let (fresh, kept) = (folder.join(name), source.join(name));
        assert_eq!(parts(&open(&fresh)), parts(&open(&kept)), "{name}: call bpf/build");
        // Another compiler makes other instructions.
        if is_same_compiler {
            assert_eq!(
                fs::read(&fresh).unwrap(),
                fs::read(&kept).unwrap(),
                "{name}: call bpf/build"
            );
        }
        // The kernel accepts what this machine's compiler makes, where it accepts any program.
        if rustix::process::geteuid().is_root()
            && let Err(error) = open(&fresh).load()
        {
            assert!(format!("{error:#}").contains("not permitted"), "{name}: {error:#}");
            eprintln!("not loaded: the kernel allows no such program here");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}
