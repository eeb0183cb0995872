//! Exports record batches through the Arrow C data interface, as any Arrow library reads them.
//!
//! Written by hand, since the `arrow` crates would make up most of the build. Columns are shared
//! with the consumer, not copied: every exported array, and every child that a consumer moves out
//! of its parent, holds on to the [`Batch`] it came from until it is released.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Arc;

use xoff_core::table::Column;

/// Marks a field that may be null. Few of ours are, but this is Arrow's default, so that tables
/// which Python makes without rows have the same schema.
const NULLABLE: i64 = 2;

/// The type of a column, in the letters of the C data interface.
fn format(column: &Column) -> &'static CStr {
    match column {
        Column::U16(_) => c"S",
        Column::U32(_) | Column::OptionalU32 { .. } => c"I",
        Column::U64(_) => c"L",
        Column::F64(_) => c"g",
        Column::Text { .. } => c"u",
    }
}

/// The buffers of a column; the first says which values are present, if some are not.
fn buffers(column: &Column) -> Vec<*const c_void> {
    match column {
        Column::U16(values) => vec![ptr::null(), values.as_ptr().cast()],
        Column::U32(values) => vec![ptr::null(), values.as_ptr().cast()],
        Column::OptionalU32 { values, present } => {
            vec![present.as_ptr().cast(), values.as_ptr().cast()]
        }
        Column::U64(values) => vec![ptr::null(), values.as_ptr().cast()],
        Column::F64(values) => vec![ptr::null(), values.as_ptr().cast()],
        Column::Text { ends, bytes } => {
            vec![ptr::null(), ends.as_ptr().cast(), bytes.as_ptr().cast()]
        }
    }
}

/// The number of absent values.
fn null_count(column: &Column) -> i64 {
    let Column::OptionalU32 { values, present } = column else { return 0 };
    let there: u32 = present.iter().map(|byte| byte.count_ones()).sum();
    values.len() as i64 - i64::from(there)
}

/// The named columns of a batch.
type Columns = [(&'static str, Column)];

/// Columns of the same length, that never change. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Batch {
    columns: Arc<Columns>,
    rows: usize,
}

impl Batch {
    /// A batch of these columns.
    ///
    /// # Panics
    ///
    /// If they differ in length.
    #[must_use]
    pub fn new(columns: Vec<(&'static str, Column)>) -> Self {
        let rows = columns.first().map_or(0, |(_, column)| column.rows());
        assert!(columns.iter().all(|(_, column)| column.rows() == rows), "columns of one length");
        Self { columns: columns.into(), rows }
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The type of this batch, for a consumer.
    #[must_use]
    pub fn schema(&self) -> ArrowSchema {
        let children = self.columns.iter();
        let children = children
            .map(|(name, column)| ArrowSchema::new(format(column), name, NULLABLE, Vec::new()));
        ArrowSchema::new(c"+s", "", 0, children.collect())
    }

    /// The rows of this batch, for a consumer. Valid as long as the consumer keeps it.
    #[must_use]
    pub fn array(&self) -> ArrowArray {
        let children = self.columns.iter();
        let children = children.map(|(_, column)| {
            ArrowArray::new(self, buffers(column), null_count(column), Vec::new())
        });
        ArrowArray::new(self, vec![ptr::null()], 0, children.collect())
    }
}

/// `struct ArrowSchema` of the C data interface. Dropping it releases it, unless it was moved.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray` of the C data interface. Dropping it releases it, unless it was moved.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// Structures that belong to a parent, in the form that the interface wants.
///
/// A consumer may move a child out: it copies the structure and sets `release` of the original to
/// null. Whatever it left is released when this is dropped, since the structures' `drop` does that.
struct Children<T> {
    /// Points into `owned`, which is neither grown nor shrunk.
    pointers: Vec<*mut T>,
    /// Only touched through `pointers` until it is dropped.
    _owned: Vec<T>,
}

impl<T> Children<T> {
    fn new(mut owned: Vec<T>) -> Self {
        Self { pointers: owned.iter_mut().map(ptr::from_mut).collect(), _owned: owned }
    }
}

/// What `private_data` of a schema points to.
struct SchemaKeep {
    name: CString,
    children: Children<ArrowSchema>,
}

/// What `private_data` of an array points to.
struct ArrayKeep {
    /// Where the buffers are.
    _columns: Arc<Columns>,
    buffers: Vec<*const c_void>,
    children: Children<ArrowArray>,
}

impl ArrowSchema {
    fn new(format: &'static CStr, name: &str, flags: i64, children: Vec<Self>) -> Self {
        let n_children = children.len() as i64;
        let name = CString::new(name).expect("a column's name has no zero byte");
        let mut keep = Box::new(SchemaKeep { name, children: Children::new(children) });
        Self {
            format: format.as_ptr(),
            name: keep.name.as_ptr(),
            metadata: ptr::null(),
            flags,
            n_children,
            children: keep.children.pointers.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(keep).cast(),
        }
    }
}

impl ArrowArray {
    fn new(
        batch: &Batch,
        buffers: Vec<*const c_void>,
        null_count: i64,
        children: Vec<Self>,
    ) -> Self {
        let (n_buffers, n_children) = (buffers.len() as i64, children.len() as i64);
        let children = Children::new(children);
        let columns = Arc::clone(&batch.columns);
        let mut keep = Box::new(ArrayKeep { _columns: columns, buffers, children });
        Self {
            length: batch.rows as i64,
            null_count,
            offset: 0,
            n_buffers,
            n_children,
            buffers: keep.buffers.as_mut_ptr(),
            children: keep.children.pointers.as_mut_ptr(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(keep).cast(),
        }
    }
}

impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is set, so nobody has released or moved this structure yet, and
            // `release` is `release_schema`, which `new` put there with its `private_data`.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArray {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: `release` is set, so nobody has released or moved this structure yet, and
            // `release` is `release_array`, which `new` put there with its `private_data`.
            unsafe { release(self) }
        }
    }
}

/// Frees what a schema holds, and marks it as released.
///
/// # Safety
///
/// `schema` points to a structure made by [`ArrowSchema::new`], or to where it was moved, and has
/// not been released.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the interface has the consumer call this with a valid pointer that it owns.
    let schema = unsafe { &mut *schema };
    schema.release = None;
    // SAFETY: `new` made `private_data` of such a box. It is taken once, as consumers must not call
    // `release` again, and a moved-from structure has none.
    drop(unsafe { Box::from_raw(schema.private_data.cast::<SchemaKeep>()) });
    (schema.children, schema.private_data) = (ptr::null_mut(), ptr::null_mut());
    schema.name = ptr::null();
}

/// Frees what an array holds, and marks it as released.
///
/// # Safety
///
/// `array` points to a structure made by [`ArrowArray::new`], or to where it was moved, and has
/// not been released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the interface has the consumer call this with a valid pointer that it owns.
    let array = unsafe { &mut *array };
    array.release = None;
    // SAFETY: `new` made `private_data` of such a box. It is taken once, as consumers must not call
    // `release` again, and a moved-from structure has none.
    drop(unsafe { Box::from_raw(array.private_data.cast::<ArrayKeep>()) });
    (array.buffers, array.children) = (ptr::null_mut(), ptr::null_mut());
    array.private_data = ptr::null_mut();
}

// SAFETY: it owns what it points to, apart from formats, which are static; nothing in there is tied
// to a thread.
unsafe impl Send for ArrowSchema {}

// SAFETY: it owns what it points to, apart from the columns, which are shared behind an `Arc`, are
// `Sync` and never change; nothing in there is tied to a thread.
unsafe impl Send for ArrowArray {}

#[cfg(test)]
mod tests {
    use std::mem;
    use std::slice;
    use std::sync::Weak;

    use xoff_core::table::Cell;

    use super::*;

    fn column<T: Cell>(values: impl IntoIterator<Item = T>) -> Column {
        T::column(values.into_iter())
    }

    fn batch() -> Batch {
        Batch::new(vec![
            ("port", column([7_u16, u16::MAX, 0])),
            ("node", column([1_u32, 2, u32::MAX])),
            ("bytes", column([1_u64, u64::MAX, 3])),
            ("slowdown", column([1.0, 2.5, f64::MAX])),
            ("link", column(["host-leaf", "", "Späne"].map(String::from))),
            ("rack", column([Some(7_u32), None, Some(0)])),
        ])
    }

    /// Moves a structure as a consumer does: bit by bit, marking the original as released.
    trait Take: Sized {
        fn take(at: *mut Self) -> Self;
    }

    impl Take for ArrowArray {
        fn take(at: *mut Self) -> Self {
            // SAFETY: tests pass pointers to live structures, and the original is marked.
            unsafe {
                let moved = ptr::read(at);
                (*at).release = None;
                moved
            }
        }
    }

    impl Take for ArrowSchema {
        fn take(at: *mut Self) -> Self {
            // SAFETY: tests pass pointers to live structures, and the original is marked.
            unsafe {
                let moved = ptr::read(at);
                (*at).release = None;
                moved
            }
        }
    }

    fn array_children(array: &ArrowArray) -> &[*mut ArrowArray] {
        // SAFETY: the array is live, and its counts and pointers are what is tested here.
        unsafe { slice::from_raw_parts(array.children, array.n_children as usize) }
    }

    fn schema_children(schema: &ArrowSchema) -> &[*mut ArrowSchema] {
        // SAFETY: the schema is live, and its counts and pointers are what is tested here.
        unsafe { slice::from_raw_parts(schema.children, schema.n_children as usize) }
    }

    fn text(at: *const c_char) -> String {
        // SAFETY: formats are static C strings, and names live as long as their schema.
        unsafe { CStr::from_ptr(at) }.to_str().unwrap().into()
    }

    fn values<T: Copy>(array: &ArrowArray, buffer: usize, count: usize) -> Vec<T> {
        assert!((buffer as i64) < array.n_buffers);
        // SAFETY: the caller names the type and length of this buffer of a live array.
        unsafe {
            let at = (*array.buffers.add(buffer)).cast::<T>();
            assert!(at.is_aligned() && !at.is_null());
            slice::from_raw_parts(at, count).to_vec()
        }
    }

    /// Reads one column as a consumer would that knows only the C structures.
    fn read(schema: &ArrowSchema, array: &ArrowArray) -> Column {
        assert_eq!((array.offset, array.n_children), (0, 0));
        assert!(array.dictionary.is_null() && schema.dictionary.is_null());
        let rows = array.length as usize;
        // SAFETY: every array has a first buffer.
        if unsafe { !(*array.buffers).is_null() } {
            let present: Vec<u8> = values(array, 0, rows.div_ceil(8));
            let there: u32 = present.iter().map(|byte| byte.count_ones()).sum();
            assert_eq!(
                (array.null_count, text(schema.format).as_str()),
                (array.length - i64::from(there), "I")
            );
            return Column::OptionalU32 { values: values(array, 1, rows), present };
        }
        assert_eq!(array.null_count, 0);
        match text(schema.format).as_str() {
            "S" => Column::U16(values(array, 1, rows)),
            "I" => Column::U32(values(array, 1, rows)),
            "L" => Column::U64(values(array, 1, rows)),
            "g" => Column::F64(values(array, 1, rows)),
            "u" => {
                let ends = values::<i32>(array, 1, rows + 1);
                let bytes = values(array, 2, ends[rows] as usize);
                Column::Text { ends, bytes }
            }
            other => panic!("format {other}"),
        }
    }

    fn read_all(schema: &ArrowSchema, array: &ArrowArray) -> Vec<(String, Column)> {
        assert_eq!((text(schema.format), schema.n_children), ("+s".into(), array.n_children));
        assert_eq!((array.null_count, array.offset, array.n_buffers), (0, 0, 1));
        let children = schema_children(schema).iter().zip(array_children(array));
        children
            .map(|(&schema, &array)| {
                // SAFETY: both are live children.
                let (schema, array) = unsafe { (&*schema, &*array) };
                (text(schema.name), read(schema, array))
            })
            .collect()
    }

    fn expected(batch: &Batch) -> Vec<(String, Column)> {
        let columns = batch.columns().iter();
        columns.map(|(name, column)| ((*name).into(), column.clone())).collect()
    }

    fn holders(batch: &Batch) -> usize {
        Arc::strong_count(&batch.columns)
    }

    #[test]
    fn a_consumer_reads_what_was_put_in() {
        let batch = batch();
        let (schema, array) = (batch.schema(), batch.array());
        assert_eq!(array.length, 3);
        assert_eq!(read_all(&schema, &array), expected(&batch));
    }

    #[test]
    fn values_are_shared_and_not_copied() {
        let batch = batch();
        let (first, second) = (batch.array(), batch.array());
        let Column::U32(nodes) = &batch.columns()[1].1 else { unreachable!() };
        for array in [&first, &second] {
            // SAFETY: the array and its second child are live.
            let at = unsafe { *(*array_children(array)[1]).buffers.add(1) };
            assert_eq!(at.cast(), nodes.as_ptr());
        }
    }

    #[test]
    fn empty_batches_are_batches() {
        let batch = Batch::new(vec![
            ("flow", column(Vec::<u64>::new())),
            ("link", column(Vec::<String>::new())),
        ]);
        assert_eq!(batch.rows(), 0);
        assert_eq!(read_all(&batch.schema(), &batch.array()), expected(&batch));
        let batch = Batch::new(Vec::new());
        assert_eq!(read_all(&batch.schema(), &batch.array()), []);
    }

    #[test]
    #[should_panic(expected = "columns of one length")]
    fn columns_of_different_lengths_are_refused() {
        let _ = Batch::new(vec![("a", column([1_u16])), ("b", column([1_u32, 2]))]);
    }

    #[test]
    fn an_export_outlives_the_batch_and_frees_it_once() {
        let batch = batch();
        let (schema, want) = (batch.schema(), expected(&batch));
        let columns: Weak<Columns> = Arc::downgrade(&batch.columns);
        let exports = [batch.array(), batch.array()];
        assert_eq!(holders(&batch), 1 + 2 * 7);
        drop(batch);
        for mut array in exports {
            assert_eq!(read_all(&schema, &array), want);
            let release = array.release.unwrap();
            // SAFETY: the array is live; a consumer calls `release` in this way.
            unsafe { release(&raw mut array) };
            assert!(array.release.is_none() && array.private_data.is_null());
            // Dropping it now, as a capsule would, must not free it again.
        }
        assert!(columns.upgrade().is_none());
    }

    #[test]
    fn an_array_that_nobody_takes_is_freed() {
        let batch = batch();
        drop((batch.schema(), batch.array()));
        assert_eq!(holders(&batch), 1);
    }

    #[test]
    fn a_moved_array_is_freed_by_its_new_owner_only() {
        let batch = batch();
        let (mut schema, mut array) = (batch.schema(), batch.array());
        let (new_schema, new_array) = (Take::take(&raw mut schema), Take::take(&raw mut array));
        drop((schema, array));
        assert_eq!(holders(&batch), 1 + 7);
        assert_eq!(read_all(&new_schema, &new_array), expected(&batch));
        drop((new_schema, new_array));
        assert_eq!(holders(&batch), 1);
    }

    #[test]
    fn a_child_may_outlive_its_parent() {
        let batch = batch();
        let (schema, array) = (batch.schema(), batch.array());
        let moved: Vec<_> = [3, 4]
            .map(|at| {
                let (field, column) = (schema_children(&schema)[at], array_children(&array)[at]);
                (Take::take(field), Take::take(column))
            })
            .into();
        drop((schema, array));
        assert_eq!(holders(&batch), 1 + 2);
        let want = expected(&batch);
        for ((field, column), (name, values)) in moved.iter().zip(&want[3..]) {
            assert_eq!((&text(field.name), &read(field, column)), (name, values));
        }
        drop(moved);
        assert_eq!(holders(&batch), 1);
    }

    #[test]
    fn arrays_may_be_freed_by_another_thread() {
        let batch = batch();
        let export = (batch.schema(), batch.array());
        std::thread::spawn(move || drop(export)).join().unwrap();
        assert_eq!(holders(&batch), 1);
    }

    #[test]
    fn the_structures_have_the_size_that_the_interface_fixes() {
        let word = mem::size_of::<usize>();
        assert_eq!(mem::size_of::<ArrowSchema>(), 7 * word + 16);
        assert_eq!(mem::size_of::<ArrowArray>(), 5 * word + 40);
    }
}
