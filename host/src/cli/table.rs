//! Tables for people: a header, aligned columns, no lines in between.

use comfy_table::{CellAlignment, Row, Table, presets};

/// A table with these columns; those whose name starts with `#` hold numbers.
pub fn table<const N: usize>(
    columns: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(columns.map(|name| name.trim_start_matches('#').to_uppercase()));
    for row in rows {
        table.add_row(Row::from(row.to_vec()));
    }
    for (name, column) in columns.iter().zip(table.column_iter_mut()) {
        column.set_padding((0, 2));
        if name.starts_with('#') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_lines_have_no_end_of_spaces() {
        let rows = [["a".into(), "7".into()], ["bcd".into(), "19".into()]];
        assert_eq!(table(["name", "#n"], rows), "NAME   N\na      7\nbcd   19");
    }
}
