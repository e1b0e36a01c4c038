//! What a store holds, whatever it is: to see that something changed nothing.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// Every row of every table of a store, as text.
pub fn rows(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut statement = connection.prepare(tables).unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut found = Vec::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> =
                (0..columns).map(|at| shown(row.get_ref(at).unwrap())).collect();
            found.push(format!("{table}: {}", values.join(" | ")));
        }
    }
    found
}

fn shown(value: ValueRef) -> String {
    match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}
