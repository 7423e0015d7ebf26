//! The structs of a Parquet file, as `parquet.thrift` of the format's definition numbers their fields, and the check of
//! a footer by them.

use super::thrift::Wire::{self, Any, Binary, Bool, Double, I8, I16, I32, I64, List, Struct};
use super::thrift::{DEPTH, Thrift};

/// Groups within groups of a schema, at most: the parquet crate calls itself for each.
const SCHEMA_DEPTH: usize = 64;

/// Whether the bytes are a footer that takes the parquet crate no more time and memory than they stand for.
pub(super) fn is_footer(bytes: &[u8]) -> bool {
    let mut schema = None;
    let whole = Thrift::new(bytes).fields(&FILE_META_DATA, DEPTH, |id, value| {
        schema = schema.or((id == 2).then_some(value));
    });
    whole.and(schema).and_then(check_schema).is_some()
}

/// The elements of a schema are the nodes of a tree, parents first, each with the number of its children. The crate
/// takes memory for these numbers.
fn check_schema(mut thrift: Thrift) -> Option<()> {
    let (_, len) = thrift.list_start()?;
    // Children yet to come, of each group that the element is in.
    let mut groups: Vec<u64> = Vec::new();
    for _ in 0..len {
        let mut children = Some(0);
        thrift.fields(&SCHEMA_ELEMENT, DEPTH, |id, mut value| {
            if id == 5 {
                children = value.i32().map(|n| u64::try_from(n).unwrap_or(0));
            }
        })?;
        if let Some(left) = groups.last_mut() {
            *left -= 1;
        }
        groups.push(children.filter(|&n| n <= len)?);
        groups.truncate(groups.iter().rposition(|&left| left > 0).map_or(0, |last| last + 1));
        if groups.len() > SCHEMA_DEPTH {
            return None;
        }
    }
    Some(())
}

/// The footer. What encryption adds, its fields 8 and 9 and those of a column chunk, is passed over.
const FILE_META_DATA: [Wire; 7] =
    [I32, List(&Struct(&SCHEMA_ELEMENT)), I64, List(&ROW_GROUP), List(&KEY_VALUE), Binary, List(&COLUMN_ORDER)];
/// The fields of the header of a page: type, bytes unpacked and packed, checksum, and what is of one type of page.
pub(super) const PAGE_HEADER: [Wire; 8] =
    [I32, I32, I32, I32, DATA_PAGE_HEADER, EMPTY, DICTIONARY_PAGE_HEADER, DATA_PAGE_HEADER_V2];

const EMPTY: Wire = Struct(&[]);
const SCHEMA_ELEMENT: [Wire; 10] = [I32, I32, I32, Binary, I32, I32, I32, I32, I32, LOGICAL_TYPE];
const LOGICAL_TYPE: Wire = Struct(&[
    EMPTY, EMPTY, EMPTY, EMPTY, DECIMAL, EMPTY, TIME, TIME, Any, INTEGER, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, VARIANT,
    GEOMETRY, GEOGRAPHY,
]);
const DECIMAL: Wire = Struct(&[I32, I32]);
const TIME: Wire = Struct(&[Bool, Struct(&[EMPTY, EMPTY, EMPTY])]);
const INTEGER: Wire = Struct(&[I8, Bool]);
const VARIANT: Wire = Struct(&[I8]);
const GEOMETRY: Wire = Struct(&[Binary]);
const GEOGRAPHY: Wire = Struct(&[Binary, I32]);

const ROW_GROUP: Wire = Struct(&[List(&COLUMN_CHUNK), I64, I64, List(&SORTING_COLUMN), I64, I64, I16]);
const SORTING_COLUMN: Wire = Struct(&[I32, Bool, Bool]);
const COLUMN_CHUNK: Wire = Struct(&[Binary, I64, COLUMN_META_DATA, I64, I32, I64, I32]);
const COLUMN_META_DATA: Wire = Struct(&[
    I32,
    List(&I32),
    List(&Binary),
    I32,
    I64,
    I64,
    I64,
    List(&KEY_VALUE),
    I64,
    I64,
    I64,
    STATISTICS,
    List(&PAGE_ENCODING_STATS),
    I64,
    I32,
    SIZE_STATISTICS,
    GEOSPATIAL_STATISTICS,
]);
const STATISTICS: Wire = Struct(&[Binary, Binary, I64, I64, Binary, Binary, Bool, Bool]);
const PAGE_ENCODING_STATS: Wire = Struct(&[I32, I32, I32]);
const SIZE_STATISTICS: Wire = Struct(&[I64, List(&I64), List(&I64)]);
const GEOSPATIAL_STATISTICS: Wire = Struct(&[BOUNDING_BOX, List(&I32)]);
const BOUNDING_BOX: Wire = Struct(&[Double, Double, Double, Double, Double, Double, Double, Double]);
const KEY_VALUE: Wire = Struct(&[Binary, Binary]);
const COLUMN_ORDER: Wire = Struct(&[EMPTY]);

const DATA_PAGE_HEADER: Wire = Struct(&[I32, I32, I32, I32, STATISTICS]);
const DICTIONARY_PAGE_HEADER: Wire = Struct(&[I32, I32, Bool]);
const DATA_PAGE_HEADER_V2: Wire = Struct(&[I32, I32, I32, I32, I32, I32, Bool, STATISTICS]);

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer of one row group without columns, and of this schema.
    fn footer(schema: &[&[u8]]) -> Vec<u8> {
        let head = [0x15, 2, 0x19, 0xfc, schema.len() as u8];
        [&head[..], &schema.concat(), &[0x16, 2, 0x19, 0x1c, 0x19, 0x0c, 0x16, 0, 0x16, 2, 0, 0]].concat()
    }

    const LEAF: &[u8] = &[0x15, 2, 0x25, 0, 0x18, 1, b'x', 0];

    #[test]
    fn footers_of_writers_pass() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/arrow");
        let mut seen = 0;
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_none_or(|extension| extension != "parquet") {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let end = bytes.len() - 8;
            let len = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
            let footer = &bytes[end - len..end];
            assert!(is_footer(footer), "{}", path.display());
            assert!(!is_footer(&footer[..len - 1]), "{}", path.display());
            seen += 1;
        }
        assert!(seen > 0);
    }

    #[test]
    fn known_fields_have_their_type() {
        let good = footer(&[&[0x48, 1, b'r', 0x15, 2, 0], LEAF]);
        assert!(is_footer(&good));
        for (at, kind) in [(0, 0x16), (2, 0x1c), (5, 0x45), (8, 0x16), (11, 0x11), (25, 0x18)] {
            let mut bytes = good.clone();
            bytes[at] = kind;
            assert!(!is_footer(&bytes), "{kind:x} at {at}");
        }
    }

    #[test]
    fn schemas_are_trees() {
        assert!(!is_footer(&footer(&[&[0x48, 1, b'r', 0x15, 6, 0], LEAF])), "three children of two elements");
        assert!(!is_footer(&footer(&[&[0x48, 1, b'r', 0x15, 0xfe, 0xff, 0xff, 0xff, 15, 0], LEAF])), "two billion");
        let nested = |depth| [vec![&[0x48, 1, b'r', 0x15, 2, 0][..]; depth], vec![LEAF]].concat();
        assert!(is_footer(&footer(&nested(SCHEMA_DEPTH))));
        assert!(!is_footer(&footer(&nested(SCHEMA_DEPTH + 1))));
    }
}
