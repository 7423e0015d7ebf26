//! Words in HTML and SVG.

/// Words as HTML and XML take them; control characters have no place there.
pub(crate) fn escaped(words: &str) -> String {
    let mut text = String::new();
    for c in words.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\'' => text.push_str("&#39;"),
            '\n' => text.push('\n'),
            '\u{fffe}' | '\u{ffff}' => text.push(' '),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}

/// At most so many characters.
pub(crate) fn shortened(words: &str, most: usize) -> String {
    if words.chars().count() <= most {
        return words.to_owned();
    }
    words.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_markup() {
        assert_eq!(escaped("<b>&\"'\u{1}\u{ffff}"), "&lt;b&gt;&amp;&quot;&#39;  ");
        assert_eq!([shortened("abcd", 4), shortened("abcde", 4)], ["abcd", "abc…"]);
    }
}
