//! JSON objects without nesting, one a line: all that the bench programs print.

use std::fmt::Write;

/// A value of a flat object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(f64),
}

/// Keys and values, in order.
pub(super) type Object = Vec<(String, Value)>;

/// Reads a flat object of texts and numbers; `None` for anything else.
pub(super) fn parse(line: &str) -> Option<Object> {
    let mut rest = line.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut object = Vec::new();
    while !rest.is_empty() {
        let (key, after) = text(rest)?;
        let (value, after) = value(after.trim_start().strip_prefix(':')?.trim_start())?;
        object.push((key, value));
        let after = after.trim_start();
        rest = if after.is_empty() { after } else { after.strip_prefix(',')?.trim_start() };
    }
    Some(object)
}

fn value(rest: &str) -> Option<(Value, &str)> {
    if rest.starts_with('"') {
        return text(rest).map(|(text, after)| (Value::Text(text), after));
    }
    let end = rest.find([',', ' ']).unwrap_or(rest.len());
    Some((Value::Number(rest[..end].parse().ok()?), &rest[end..]))
}

/// The text that `rest` starts with, and what follows.
fn text(rest: &str) -> Option<(String, &str)> {
    let rest = rest.strip_prefix('"')?;
    let mut text = String::new();
    let mut characters = rest.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((text, &rest[at + 1..])),
            '\\' => text.push(escaped(&mut characters)?),
            other => text.push(other),
        }
    }
    None
}

fn escaped(characters: &mut std::str::CharIndices<'_>) -> Option<char> {
    match characters.next()?.1 {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'u' => {
            let digits: String = characters.by_ref().take(4).map(|(_, digit)| digit).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        other => Some(other),
    }
}

/// Writes a flat object on one line.
pub(super) fn write(object: &Object) -> String {
    let fields = object.iter().map(|(key, value)| match value {
        Value::Text(text) => format!("{}: {}", quoted(key), quoted(text)),
        Value::Number(number) => format!("{}: {number}", quoted(key)),
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => write!(quoted, "\\u{:04x}", control as u32).expect("texts grow"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_read_and_written() {
        let line = r#"{"name": "map","by":"a \"b\" \\ c\n","seconds": 1.5e-3 , "threads":2}"#;
        let object = parse(line).unwrap();
        assert_eq!(object[1], ("by".to_owned(), Value::Text("a \"b\" \\ c\n".to_owned())));
        assert_eq!(
            object[2..],
            [("seconds".to_owned(), Value::Number(1.5e-3)), ("threads".to_owned(), Value::Number(2.0))]
        );
        assert_eq!(parse(&super::write(&object)).unwrap(), object);
        assert_eq!(parse("{}"), Some(Vec::new()));
    }

    #[test]
    fn other_lines_are_refused() {
        for bad in ["", "text", "[1]", r#"{"a": [1]}"#, r#"{"a" 1}"#, r#"{"a": 1 "b": 2}"#, r#"{"a": "b}"#] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
