//! Columns of text as they are known from Nomad's command line: two spaces between columns, nothing after the last.

/// What an empty cell shows.
const EMPTY: &str = "<none>";

/// Rows of cells; empty cells show as `<none>`.
pub(crate) fn table<S: AsRef<str>>(rows: &[Vec<S>]) -> String {
    columns(rows, "  ", Some(EMPTY))
}

/// Rows of cells; empty cells stay empty.
pub(crate) fn table_with_blanks<S: AsRef<str>>(rows: &[Vec<S>]) -> String {
    columns(rows, "  ", None)
}

/// Keys and values, one a line.
pub(crate) fn pairs<S: AsRef<str>>(rows: &[(&str, S)]) -> String {
    let rows: Vec<Vec<&str>> = rows.iter().map(|(key, value)| vec![*key, value.as_ref()]).collect();
    columns(&rows, " = ", Some(EMPTY))
}

fn columns<S: AsRef<str>>(rows: &[Vec<S>], glue: &str, empty: Option<&str>) -> String {
    let shown: Vec<Vec<&str>> =
        rows.iter().map(|row| row.iter().map(|cell| filled(cell.as_ref(), empty)).collect()).collect();
    let count = shown.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|at| shown.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<&str>| {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line.push_str(cell);
            if at + 1 < row.len() {
                line.push_str(&" ".repeat(width - cell.chars().count()));
                line.push_str(glue);
            }
        }
        line
    };
    shown.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn filled<'a>(cell: &'a str, empty: Option<&'a str>) -> &'a str {
    match empty {
        Some(empty) if cell.is_empty() => empty,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["ID", "Class", "Status"], vec!["abc", "", "ready"], vec!["é", "x", ""]];
        assert_eq!(table(&rows), "ID   Class   Status\nabc  <none>  ready\né    x       <none>");
        assert_eq!(table_with_blanks(&rows), "ID   Class  Status\nabc         ready\né    x      ");
        assert_eq!(pairs(&[("ID", "x"), ("Name", "")]), "ID   = x\nName = <none>");
        assert_eq!(table::<&str>(&[]), "");
    }
}
