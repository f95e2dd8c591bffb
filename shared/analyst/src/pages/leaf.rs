//! Cutting one page: which parts it needs, and how it fills with what they hold.

use pg::values::{Cut, Fit, Page, PageBuilder, PageLimits, RowFormat};

use super::packing::{Torn, unpack};
use super::{Index, Part};

/// What a page may hold, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageAsk {
    /// Rows, at most; at least 1.
    pub rows: u32,
    /// Bytes of the JSON of the rows, at most.
    pub bytes: usize,
    /// How rows are written.
    pub format: RowFormat,
    /// Characters of a value.
    pub value_chars: usize,
}

/// A page that is being cut.
#[derive(Debug)]
pub struct Leaf<'a> {
    index: &'a Index,
    ask: PageAsk,
    builder: PageBuilder<'a>,
    taken: u32,
    /// The next part to read, and how many of its rows come before the page.
    next: usize,
    skip: u32,
    full: bool,
}

impl<'a> Leaf<'a> {
    /// A page from row `from` on, the first being 0.
    pub fn new(index: &'a Index, from: u32, ask: PageAsk) -> Self {
        let limits = PageLimits { max_bytes: ask.bytes, cut: Cut(ask.value_chars), format: ask.format };
        let (mut next, mut skip) = (0, from);
        while let Some(part) = index.parts.get(next).filter(|part| part.rows <= skip) {
            skip -= part.rows;
            next += 1;
        }
        let builder = PageBuilder::new(&index.columns, limits);
        Self { index, ask, builder, taken: 0, next, skip, full: false }
    }

    /// The numbers of the parts that it needs next, from 0; none when it is done.
    pub fn wants(&self) -> Vec<u32> {
        let missing = u64::from(self.ask.rows - self.taken) + u64::from(self.skip);
        if self.full || self.taken == self.ask.rows {
            return Vec::new();
        }
        let (mut rows, mut bytes) = (0, 0);
        let enough = |part: &(usize, &Part)| {
            let wanted = rows < missing && bytes < self.ask.bytes;
            rows += u64::from(part.1.rows);
            bytes += part.1.bytes as usize;
            wanted
        };
        let parts = self.index.parts.iter().enumerate().skip(self.next).take_while(enough);
        parts.filter_map(|(number, _)| u32::try_from(number).ok()).collect()
    }

    /// Takes the parts that it wanted, in their order.
    pub fn feed(&mut self, parts: &[Vec<u8>]) -> Result<(), Torn> {
        for packed in parts {
            let part = self.index.parts.get(self.next).ok_or(Torn)?;
            self.next += 1;
            let rows = unpack(packed, part.rows, self.index.columns.len())?;
            for row in rows.iter().skip(std::mem::take(&mut self.skip) as usize) {
                if self.taken == self.ask.rows {
                    break;
                }
                if self.builder.push(row) == Fit::Full {
                    self.full = true;
                    break;
                }
                self.taken += 1;
            }
        }
        Ok(())
    }

    /// The page.
    pub fn finish(self) -> Page {
        self.builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use pg::RawValue;
    use pg::types::TypeBook;
    use pg::values::Column;
    use serde_json::{Value, json};

    use super::super::{End, Kept, Row};
    use super::*;

    const TEXT: u32 = 25;

    /// Rows that hold their number, and some text beside it.
    fn kept(rows: usize, beside: usize) -> (Index, Vec<Vec<u8>>) {
        let column =
            |name: &str| Column { name: name.to_owned(), fact: TypeBook::default().resolve(TEXT, -1) };
        let value = |text: String| {
            Some(RawValue { full_chars: text.len(), full_bytes: text.len(), bytes: text.into_bytes() })
        };
        let row = |number: usize| -> Row { vec![value(number.to_string()), value("x".repeat(beside))] };
        let rows = (0..rows).map(row).collect();
        let kept = Kept::new(1, vec![column("n"), column("x")], rows, End::Result);
        let (index, parts) = kept.pack().unwrap();
        (serde_json::from_value(serde_json::to_value(&index).unwrap()).unwrap(), parts)
    }

    /// The page, and how many parts it took in how many turns.
    fn cut(index: &Index, parts: &[Vec<u8>], from: u32, ask: PageAsk) -> (Page, usize, usize) {
        let (mut leaf, mut taken, mut turns) = (Leaf::new(index, from, ask), 0, 0);
        loop {
            let wants = leaf.wants();
            if wants.is_empty() {
                return (leaf.finish(), taken, turns);
            }
            taken += wants.len();
            turns += 1;
            leaf.feed(&wants.iter().map(|number| parts[*number as usize].clone()).collect::<Vec<_>>())
                .unwrap();
        }
    }

    fn ask(rows: u32, bytes: usize) -> PageAsk {
        PageAsk { rows, bytes, format: RowFormat::Arrays, value_chars: 4_000 }
    }

    fn numbers(page: &Page) -> Vec<usize> {
        let number = |row: &Value| row[0].as_str().unwrap().parse().unwrap();
        page.rows.as_array().unwrap().iter().map(number).collect()
    }

    #[test]
    fn pages_of_any_size_follow_on_each_other() {
        let (index, parts) = kept(1_000, 300);
        for rows in [1, 7, 100, 333, 1_000, 5_000] {
            let mut seen = Vec::new();
            while seen.len() < 1_000 {
                let from = u32::try_from(seen.len()).unwrap();
                let (page, ..) = cut(&index, &parts, from, ask(rows, 1 << 20));
                assert!(page.row_count > 0);
                seen.extend(numbers(&page));
            }
            assert_eq!(seen, (0..1_000).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_page_that_ends_by_bytes_is_whole_rows() {
        let (index, parts) = kept(100, 300);
        let (page, ..) = cut(&index, &parts, 40, ask(50, 1_000));
        assert_eq!(numbers(&page), [40, 41, 42]);
        assert!(page.full && page.bytes <= 1_000);
        assert_eq!(index.answer(page, 40, ask(50, 1_000)).truncated_by, Some("bytes"));
    }

    #[test]
    fn a_usual_page_takes_one_or_two_parts_in_one_turn() {
        let (index, parts) = kept(10_000, 100);
        assert!(parts.len() > 15);
        for from in (0..9_500).step_by(137) {
            let (page, taken, turns) = cut(&index, &parts, from, ask(500, 1 << 20));
            assert_eq!((page.row_count, turns), (500, 1), "from {from}");
            assert!(taken <= 2, "{taken} parts from {from}");
        }
    }

    #[test]
    fn a_page_that_shows_little_of_its_rows_takes_more_turns() {
        let (index, parts) = kept(200, 4_000);
        let ask = PageAsk { value_chars: 10, ..ask(200, 20_000) };
        let (page, _, turns) = cut(&index, &parts, 0, ask);
        assert_eq!((page.row_count, page.values_cut), (200, 200));
        assert!(turns > 1);
    }

    #[test]
    fn behind_the_last_row_there_is_nothing() {
        let (index, parts) = kept(10, 3);
        let (page, taken, _) = cut(&index, &parts, 10, ask(5, 1_000));
        assert_eq!((page.rows, taken), (json!([]), 0));
    }

    #[test]
    fn parts_of_another_result_are_torn() {
        let ((index, _), (_, others)) = (kept(10, 3), kept(11, 3));
        assert_eq!(Leaf::new(&index, 0, ask(5, 100)).feed(&others), Err(Torn));
    }
}
