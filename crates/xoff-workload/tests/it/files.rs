//! Every possible error of a size table or a flow list, with its message.

use xoff_core::knobs::{Knob as _, Value};
use xoff_core::{HostId, Ps};
use xoff_workload::{Arrival, DscpMap, FlowList, ListConfig, Priority, SizeTable, Source};

fn table_error(text: &str) -> String {
    SizeTable::from_csv(text, "t.csv").expect_err(text).to_string()
}

/// The error of a table with these rows, the first on line 2.
fn row_error(rows: &str) -> String {
    table_error(&format!("size_bytes,cdf\n{rows}"))
}

#[test]
fn a_table_needs_its_header_and_rows() {
    assert_eq!(
        table_error(""),
        "t.csv, line 1: the file is empty: begin it with the header \"size_bytes,cdf\""
    );
    assert_eq!(
        table_error("\n0,0\n1,1\n"),
        "t.csv, line 2: expected the header \"size_bytes,cdf\", found \"0,0\""
    );
    assert_eq!(row_error(""), "t.csv, line 1: no rows below the header: add at least one");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_header() {
    let plain = "size_bytes,cdf\n0,0\n1000,1\n";
    let marked = SizeTable::from_csv(&format!("\u{feff}{plain}"), "t.csv").unwrap();
    assert_eq!(marked.digest(), SizeTable::from_csv(plain, "t.csv").unwrap().digest());
    let list = "\u{feff}src,dst,size_bytes,start_ps\n0,1,7,0\n";
    let mut flows = FlowList::from_csv(&ListConfig::default(), list, 2, 0).unwrap();
    assert_eq!(flows.next(), Some(Arrival::new(Ps(0), HostId(0), HostId(1), 7, 0)));
    // Only at the beginning of a file.
    assert!(table_error("\nsize_bytes,\u{feff}cdf\n").contains("expected the header"));
    assert!(table_error("\u{feff}").contains("the file is empty"));
}

#[test]
fn a_table_needs_numbers() {
    let error = "t.csv, line 3: 3 columns: write the 2 columns \"size_bytes,cdf\"";
    assert_eq!(row_error("0,0\n1,2,3\n"), error);
    let error = "t.csv, line 2: 1 columns: write the 2 columns \"size_bytes,cdf\"";
    assert_eq!(row_error("7\n"), error);
    let size =
        |found| format!("t.csv, line 2: size_bytes {found}: write a whole number without a unit");
    assert_eq!(row_error("1KB,0\n"), size("\"1KB\" is not a number that fits"));
    assert_eq!(row_error("-5,0\n"), size("\"-5\" is negative"));
    assert_eq!(row_error("1.5,0\n"), size("\"1.5\" is not a number that fits"));
    let cdf = |found| format!("t.csv, line 2: cdf {found}: write a number such as 0.25");
    assert_eq!(row_error("5,\n"), cdf("\"\" is not a number that fits"));
    assert_eq!(row_error("5,nan\n"), cdf("\"nan\" is not a number that fits"));
    assert_eq!(row_error("5,-0.1\n"), cdf("\"-0.1\" is negative"));
    assert_eq!(
        row_error("9007199254740993,0\n"),
        "t.csv, line 2: size_bytes 9007199254740993 is too large: the limit is 9007199254740992"
    );
}

#[test]
fn a_long_cell_is_shown_in_part() {
    let error = row_error(&format!("{},0\n", "9".repeat(1_000_000)));
    assert!(error.len() < 250 && error.contains("999...\" is not a number that fits"), "{error}");
    let error = table_error(&"x".repeat(1_000_000));
    assert!(error.len() < 250 && error.ends_with("xxx...\""), "{error}");
}

#[test]
fn a_table_runs_from_0_to_1() {
    assert_eq!(
        row_error("1,0\n\n2,0.5\n3,0.4\n"),
        "t.csv, line 5: cdf falls from 0.5 to 0.4: sort the lines by size_bytes"
    );
    assert_eq!(
        row_error("1,0\n3,0.5\n2,1\n"),
        "t.csv, line 4: size_bytes falls from 3 to 2: sort the lines by size_bytes"
    );
    assert_eq!(
        row_error("1,0.1\n3,1\n"),
        "t.csv, line 2: the first cdf is 0.1: put a line \"size,0\" before it"
    );
    assert_eq!(
        row_error("1,0\n3,100\n"),
        "t.csv, line 3: cdf is 100: it must be between 0 and 1 (shares, not percent)"
    );
    assert_eq!(
        row_error("1,0\n2,1.9\n3,1\n"),
        "t.csv, line 3: cdf is 1.9: it must be between 0 and 1 (shares, not percent)"
    );
    assert_eq!(row_error("1,0\n3,0.9\n"), "t.csv, line 3: the last cdf is 0.9: it must be 1");
    // No flow has the last size of the second table.
    for (table, line, mean) in
        [("0,0\n0,1\n", 3, "0"), ("0,0\n0,1\n1500,1\n", 4, "0"), ("0,0\n0,0.75\n2,1\n", 4, "0.5")]
    {
        let said =
            format!("line {line}: the mean of all flows is {mean} bytes: give sizes in bytes");
        assert_eq!(row_error(table), format!("t.csv, {said}"));
    }
}

fn read_list(text: &str) -> Result<Vec<Arrival>, String> {
    read_list_of(0, text)
}

/// The flows of a list whose flows have this priority, unless a column gives theirs.
fn read_list_of(priority: u64, text: &str) -> Result<Vec<Arrival>, String> {
    let priority = Priority::new(priority).unwrap();
    let config = ListConfig { file: "f.csv".into(), priority, ..Default::default() };
    let mut list = FlowList::from_csv(&config, text, 16, 2).map_err(|error| error.to_string())?;
    Ok(std::iter::from_fn(|| list.next()).collect())
}

#[test]
fn a_list_is_read_as_it_stands() {
    let flow = Arrival::new(Ps(5), HostId(0), HostId(15), 9, 2);
    let plain = read_list_of(3, "src,dst,size_bytes,start_ps\n0,15,9,5\n0,15,9,5\n");
    assert_eq!(plain, Ok(vec![Arrival { priority: 3, ..flow }; 2]));
    let urgent = read_list("src,dst,size_bytes,start_ps,priority\n 0, 15, 9, 5, 7\n");
    assert_eq!(urgent, Ok(vec![Arrival { priority: 7, ..flow }]));
    let routed = read_list("src,dst,size_bytes,start_ps,data_path,ack_path\n0,15,9,5,3,12\n");
    assert_eq!(routed, Ok(vec![Arrival { paths: Some((3, 12)), ..flow }]));
    let both = "src,dst,size_bytes,start_ps,priority,data_path,ack_path\n0,15,9,5,7,3,256\n";
    let problem = "f.csv, line 2: ack_path 256 is out of range: it is 0 to 255";
    assert_eq!(read_list(both).unwrap_err(), problem);
}

#[test]
fn a_wrong_list_says_why() {
    let error = |row: &str| {
        let text = format!("src,dst,size_bytes,start_ps,priority\n0,1,1,10,0\n{row}\n");
        read_list(&text).expect_err(row)
    };
    let cases = [
        ("17,0,1,10,0", "host 17 does not exist: hosts are 0 to 15"),
        ("0,99999999999,1,10,0", "host 99999999999 does not exist: hosts are 0 to 15"),
        ("4,4,1,10,0", "host 4 cannot send to itself: choose another dst"),
        ("0,1,0,10,0", "size_bytes 0: a flow has 1 to 9223372036854775807 bytes"),
        ("0,1,1,9,0", "start_ps falls from 10 to 9: sort the lines by it"),
        ("0,1,1,10,8", "priority 8: it is a traffic class from 0 to 7"),
        ("0,1,1,10,256", "priority 256: it is a traffic class from 0 to 7"),
        ("0,1,1,-1,0", "start_ps \"-1\" is negative: write a whole number without a unit"),
        ("0,1,1,10", "4 columns: write the 5 columns \"src,dst,size_bytes,start_ps,priority\""),
    ];
    for (row, problem) in cases {
        assert_eq!(error(row), format!("f.csv, line 3: {problem}"));
    }
    assert_eq!(
        read_list("source,dst\n").unwrap_err(),
        "f.csv, line 1: expected the header \"src,dst,size_bytes,start_ps\" or \
         \"src,dst,size_bytes,start_ps,priority\" or \
         \"src,dst,size_bytes,start_ps,dscp\" or \
         \"src,dst,size_bytes,start_ps,data_path,ack_path\" or \
         \"src,dst,size_bytes,start_ps,priority,data_path,ack_path\" or \
         \"src,dst,size_bytes,start_ps,dscp,data_path,ack_path\", found \"source,dst\""
    );
}

#[test]
fn code_points_of_a_list_have_classes() {
    let read = |map: &str, text: &str| {
        let dscp_map = DscpMap::read(&Value::Text(map.into())).unwrap();
        let config = ListConfig { file: "f.csv".into(), dscp_map, ..Default::default() };
        let mut list =
            FlowList::from_csv(&config, text, 16, 2).map_err(|error| error.to_string())?;
        Ok::<_, String>(std::iter::from_fn(|| list.next()).map(|flow| flow.priority).collect())
    };
    let text = "src,dst,size_bytes,start_ps,dscp\n0,1,9,5,26\n0,1,9,5,46\n1,0,9,5,0\n";
    assert_eq!(read("26:3, 46:5, 0:0", text), Ok(vec![3, 5, 0]));
    assert_eq!(
        read("26:3, 46:5", text).unwrap_err(),
        "f.csv, line 4: dscp 0 has no class: add \"0:CLASS\" to dscp_map"
    );
    assert_eq!(
        read("26:3", "src,dst,size_bytes,start_ps\n0,1,9,5\n").unwrap_err(),
        "f.csv, line 2: dscp_map has no effect: the file has no column dscp"
    );
}

/// Both say the class of a flow, and the columns would win without a word.
#[test]
fn a_list_with_classes_has_no_priority_of_its_own() {
    for (columns, rest) in [("priority", ""), ("dscp", ""), ("dscp", ",data_path,ack_path")] {
        let cells = if rest.is_empty() { "" } else { ",0,0" };
        let text = format!("src,dst,size_bytes,start_ps,{columns}{rest}\n0,1,9,5,2{cells}\n");
        assert_eq!(
            read_list_of(3, &text).unwrap_err(),
            format!(
                "f.csv, line 2: priority = 3 has no effect: the column {columns} gives each flow \
                 its class; remove the setting or the column"
            )
        );
    }
}
