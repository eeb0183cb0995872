use super::*;

fn value(text: &str) -> (Value, String) {
    let documents = Document::from_overrides(&[text]).unwrap();
    let setting = documents[0].get_in("a", "b").unwrap();
    let Item::Scalar(value) = &setting.item else { panic!("{setting:?}") };
    let place = &setting.value_place;
    (value.clone(), place.text[place.span.clone()].into())
}

#[test]
fn overrides_take_toml_or_bare_text() {
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(value("a.b=2us"), (text("2us"), "2us".into()));
    assert_eq!(value(" a . b =  2 us "), (text("2 us"), "2 us".into()));
    assert_eq!(value("a.b='2us'"), (text("2us"), "'2us'".into()));
    assert_eq!(value("a.b=x=y # z"), (text("x=y # z"), "x=y # z".into()));
    assert_eq!(value("a.b="), (text(""), "".into()));
    assert_eq!(value("a.b=0x10"), (Value::Int(16), "0x10".into()));
    assert_eq!(value("a.b=1_0.5"), (Value::Float(10.5), "1_0.5".into()));
    assert_eq!(value("a.b=true"), (Value::Bool(true), "true".into()));
}

/// Each byte of such a line is an error, and each error quotes the line.
#[test]
fn a_file_that_is_no_text_is_refused_in_few_words() {
    let text = format!("a = 1\n# {}\n", "\u{1}".repeat(5000));
    let problems = Document::parse("x.toml", &text).unwrap_err();
    let shown = problems.to_string();
    assert!(shown.starts_with("error: invalid comment character"), "{shown}");
    assert!(shown.contains("\n --> x.toml:2:3\n"), "{shown}");
    assert!(shown.ends_with("error: x.toml: 4990 more errors like these"), "{shown}");
    assert!(shown.len() < 4000, "{} bytes", shown.len());
}

#[test]
fn all_malformed_overrides_are_reported() {
    let overrides = ["a.b", "#a=1", "a.b=\"x", "a b=1", "=1", "a.=x", "fine=1"];
    let shown = Document::from_overrides(&overrides).unwrap_err().to_string();
    let expected = r#"error: an override must be written as KEY=VALUE, such as traffic.0.load=0.8
 --> --set:1:1
  |
1 | a.b
  | ^^^

error: an override must be written as KEY=VALUE, such as traffic.0.load=0.8
 --> --set:1:1
  |
1 | #a=1
  | ^^^^

error: invalid basic string, expected `"`
 --> --set:1:7
  |
1 | a.b="x
  |       ^

error: key with no value, expected `=`
 --> --set:1:3
  |
1 | a b=1
  |   ^

error: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
 --> --set:1:1
  |
1 | =1
  | ^

error: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
 --> --set:1:3
  |
1 | a.=x
  |   ^"#;
    assert_eq!(shown, expected);
}

#[test]
fn syntax_errors_show_their_place() {
    let text = "\u{feff}a = \"x\nb = 1us\nd = 1\nd = 2\n[c\n";
    let shown = Document::parse("f.toml", text).unwrap_err().to_string();
    let expected = r#"error: invalid basic string, expected `"`
 --> f.toml:1:7
  |
1 | a = "x
  |       ^

error: string values must be quoted, expected literal string
 --> f.toml:2:5
  |
2 | b = 1us
  |     ^^^

error: duplicate key
 --> f.toml:4:1
  |
4 | d = 2
  | ^

error: unclosed table, expected `]`
 --> f.toml:5:3
  |
5 | [c
  |   ^"#;
    assert_eq!(shown, expected);
}
