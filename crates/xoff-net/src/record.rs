//! Side records: data that a congestion control writes into its packets and that does not fit into
//! a packet's cache line. Packets of other controls have none.

use crate::telemetry::{IntHop, IntStack};

/// A packet's congestion header (XCP §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct XcpHeader {
    /// The sender's estimate of the RTT (ps); 0: none yet. "H_rtt"
    pub rtt_ps: f64,
    /// Time between two packets of the flow, this packet's bytes x RTT / window (ps): the
    /// draft's X.
    pub spacing_ps: f64,
    /// The change of the flow's throughput for this packet (bytes/ps): at first the sender's wish,
    /// then the least that a switch allows. "H_feedback"
    pub feedback: f64,
}

/// A packet's side record. All side records of a run are of the same kind.
#[derive(Clone, Copy, Debug)]
pub enum Record {
    /// The entries of the switches on the path (HPCC).
    Int(IntStack),
    /// A congestion header (XCP).
    Xcp(XcpHeader),
    /// The code of the largest utilisation on the path (PINT).
    Pint(u16),
}

/// All records of a partition.
#[derive(Debug, Default)]
pub struct RecordTable {
    records: Vec<Record>,
    free: Vec<u32>,
}

impl RecordTable {
    /// A blank INT record for a new packet. Of a reused record only the count is reset.
    #[inline]
    pub fn add_stack(&mut self) -> u32 {
        if let Some(id) = self.free.pop() {
            if let Record::Int(stack) = &mut self.records[id as usize] {
                stack.clear();
            }
            return id;
        }
        self.push(Record::Int(IntStack::default()))
    }

    /// A code for a new packet that has not passed a switch.
    #[inline]
    pub fn add_code(&mut self) -> u32 {
        self.add(Record::Pint(0))
    }

    /// A congestion header for a new packet.
    #[inline]
    pub fn add_header(&mut self, header: XcpHeader) -> u32 {
        self.add(Record::Xcp(header))
    }

    #[inline]
    fn add(&mut self, record: Record) -> u32 {
        if let Some(id) = self.free.pop() {
            self.records[id as usize] = record;
            return id;
        }
        self.push(record)
    }

    /// A record that was received from another partition.
    pub fn insert(&mut self, record: &Record) -> u32 {
        match record {
            Record::Xcp(_) | Record::Pint(_) => self.add(*record),
            Record::Int(stack) => {
                let id = self.add_stack();
                if let Record::Int(own) = &mut self.records[id as usize] {
                    own.copy_from(stack);
                }
                id
            }
        }
    }

    /// Frees a record's place.
    #[inline]
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// Appends a switch's entry to an INT record.
    #[inline]
    pub fn push_hop(&mut self, id: u32, hop: IntHop) {
        if let Record::Int(stack) = &mut self.records[id as usize] {
            stack.push(hop);
        }
    }

    /// The number of records in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// Whether no record is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn push(&mut self, record: Record) -> u32 {
        self.records.push(record);
        (self.records.len() - 1) as u32
    }
}

impl core::ops::Index<u32> for RecordTable {
    type Output = Record;
    #[inline]
    fn index(&self, id: u32) -> &Record {
        &self.records[id as usize]
    }
}

impl core::ops::IndexMut<u32> for RecordTable {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Record {
        &mut self.records[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(record: &Record) -> &[IntHop] {
        let Record::Int(stack) = record else { panic!("{record:?} is no INT record") };
        stack.hops()
    }

    #[test]
    fn a_place_that_is_used_again_is_blank() {
        let mut table = RecordTable::default();
        let first = table.add_stack();
        let hop = IntHop { time_ps: 1, ..IntHop::default() };
        table.push_hop(first, hop);
        assert_eq!(hops(&table[first]), [hop]);
        let elsewhere = table[first];
        table.remove(first);
        assert!(table.is_empty());
        assert_eq!(table.add_stack(), first);
        assert!(hops(&table[first]).is_empty());
        let second = table.insert(&elsewhere);
        assert_ne!(first, second);
        assert_eq!((hops(&table[second]), table.len()), (&[hop][..], 2));
    }

    #[test]
    fn headers_keep_what_was_written() {
        let mut table = RecordTable::default();
        let id = table.add_header(XcpHeader { rtt_ps: 5.0, ..XcpHeader::default() });
        let Record::Xcp(header) = &mut table[id] else { panic!("no header") };
        header.feedback = -1.0;
        let copy = table[id];
        table.remove(id);
        let again = table.insert(&copy);
        let Record::Xcp(header) = &table[again] else { panic!("no header") };
        assert_eq!((again, header.rtt_ps, header.feedback), (id, 5.0, -1.0));
    }
}
