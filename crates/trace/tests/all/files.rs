//! Trace files: what was written is read back, damage of any kind is an error and nothing worse.

use proptest::prelude::*;
use std::io::Cursor;
use wb_trace::*;

/// Bytes behind the last block of a file without events: index and trailer. An entry of the index has 28 bytes.
const TAIL: usize = 13 + 42;

fn with_lines() -> TraceOptions {
    TraceOptions { memory: true, limit: None }
}

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Mostly small numbers, sometimes any.
    fn mixed(&mut self) -> u64 {
        let bits = self.below(65);
        if bits == 0 { 0 } else { self.next() >> (64 - bits) }
    }
}

fn event(r: &mut Random) -> Event {
    let kind = match r.below(14) {
        0 => Kind::WaveStart { lanes: r.mixed() },
        1 => Kind::WaveEnd,
        2 => {
            let (unit, instance, class) = (r.next() as u8, r.next() as u8, r.next() as u8);
            Kind::Issue { unit, instance, class, busy: r.mixed() as u16 }
        }
        3 => Kind::Stall { cycles: r.mixed() as u32, reason: StallReason::ALL[r.below(8) as usize] },
        4 => Kind::Split { taken: r.mixed(), other: r.mixed() },
        5 => Kind::Mask {
            new: r.mixed(),
            live: r.mixed(),
            origin: if r.below(2) == 0 { NO_PC } else { r.mixed() as u32 },
            cause: MaskCause::ALL[r.below(8) as usize],
        },
        6 => Kind::PathNew { at: r.mixed() as u32, lanes: r.mixed() },
        7 => Kind::PathMerge { lanes: r.mixed() },
        8 => Kind::Memory {
            port: PortKind::ALL[r.below(5) as usize],
            write: r.below(2) == 0,
            lines: r.mixed() as u16,
            hits: r.mixed() as u16,
            misses: r.mixed() as u16,
            evictions: r.mixed() as u16,
            done: r.mixed(),
        },
        9 => Kind::PathStart { lanes: r.mixed() },
        10 => Kind::PathEnd { into: r.mixed() as u16 },
        12 => Kind::Nop,
        11 => Kind::SplitRefused { reason: RefusedReason::ALL[r.below(5) as usize], lanes: r.mixed() },
        _ => Kind::Barrier { id: r.mixed(), arrived: r.mixed() as u32, needed: r.mixed() as u32 },
    };
    Event {
        cycle: r.mixed(),
        core: r.below(64) as u16,
        slot: r.below(64) as u16,
        wave: r.mixed() as u32,
        path: r.below(3) as u16,
        pc: r.mixed() as u32,
        mask: r.mixed(),
        kind,
    }
}

fn info() -> TraceInfo {
    let code = (0..20).map(|pc| CodeLine { pc, addr: u64::from(pc) * 4, ..CodeLine::default() });
    let unit = UnitInfo { name: "alu".into(), instances: 4, port: "none".into(), ..UnitInfo::default() };
    TraceInfo {
        program: "random".into(),
        lanes: 64,
        cores: 64,
        slots: 64,
        units: vec![unit],
        code: code.collect(),
        ..TraceInfo::default()
    }
}

fn random_file(seed: u64, count: usize) -> (Vec<Event>, Vec<u8>, TraceEnd) {
    let mut r = Random(seed);
    let events: Vec<Event> = (0..count).map(|_| event(&mut r)).collect();
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes);
    let mut hash = HashObserver::new();
    let mut both = Observers(vec![&mut writer, &mut hash]);
    both.begin(&info());
    let mut rest = &events[..];
    while !rest.is_empty() {
        let (batch, later) = rest.split_at((r.below(500) as usize + 1).min(rest.len()));
        both.events(batch);
        rest = later;
    }
    both.end(12345);
    let end = writer.finish().unwrap();
    assert_eq!(end.hash, hash.hash());
    (events, bytes, end)
}

fn read(bytes: &[u8]) -> Result<(TraceInfo, Vec<Event>, TraceEnd), TraceError> {
    let mut reader = TraceReader::open(bytes)?;
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while reader.next_batch(&mut batch)? {
        all.append(&mut batch);
    }
    Ok((reader.info().clone(), all, reader.end().unwrap()))
}

/// Reads with all observers; their memory and time must stay bounded by the input too.
fn observe(bytes: &[u8]) -> Result<Stats, TraceError> {
    let reader = TraceReader::open(bytes)?;
    let (mut stats, mut log) = (Statistics::new(), PdomLog::new(std::io::sink()));
    replay(reader, &mut [&mut stats, &mut log])?;
    Ok(stats.stats())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn round_trip(seed: u64, count in 0usize..2000) {
        let (events, bytes, end) = random_file(seed, count);
        let (read_info, read_events, read_end) = read(&bytes).unwrap();
        prop_assert_eq!(read_info, info());
        prop_assert_eq!(read_events, events);
        prop_assert_eq!(read_end, end);
        prop_assert_eq!((end.events, end.cycles, end.complete), (count as u64, 12345, true));
    }

    #[test]
    fn arbitrary_bytes(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(read(&tail).is_err());
        let (_, bytes, _) = random_file(1, 0);
        let header = bytes.len() - TAIL;
        let mut bytes = bytes[..header].to_vec();
        bytes.extend(tail);
        prop_assert!(read(&bytes).is_err());
    }
}

#[test]
fn many_blocks() {
    let (events, bytes, _) = random_file(7, 150_000);
    let blocks = TraceFile::open(Cursor::new(&bytes)).unwrap().blocks().len();
    assert!(blocks > 2, "{blocks}");
    assert_eq!(read(&bytes).unwrap().1, events);
    observe(&bytes).unwrap();
}

#[test]
fn corruption_is_an_error() {
    let (_, good, _) = random_file(3, 150);
    let mut r = Random(99);
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..r.below(4) + 1 {
            let at = r.below(bytes.len() as u64) as usize;
            match r.below(4) {
                0 => bytes[at] ^= 1 << r.below(8),
                1 => bytes[at] = r.next() as u8,
                2 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, r.next() as u8),
            }
        }
        let result = observe(&bytes);
        assert!(result.is_err() || bytes == good);
    }
}

/// Damage that a checksum does not see: blocks with correct checksums and random columns.
#[test]
fn hostile_blocks() {
    use xxhash_rust::xxh3::xxh3_64;
    let (_, good, _) = random_file(3, 0);
    let header = &good[..good.len() - TAIL];
    let mut r = Random(5);
    let (mut through, mut decoded) = (0, 0);
    for round in 0..20_000 {
        let events = r.below(3) + 1;
        let mut payload = Vec::new();
        for stream in 0..17 {
            // Tags as many as events; of the rest few bytes, mostly small ones; sometimes a length that is a lie.
            let length = if stream == 0 {
                events
            } else if stream > 14 || round % 2 == 0 {
                0
            } else {
                r.below(4)
            };
            let claimed = if r.below(200) == 0 { r.mixed() >> 1 } else { length };
            payload.extend([(claimed & 0x7f) as u8, length as u8]);
            payload.extend((0..length).map(|_| {
                let byte = r.next() as u8;
                if stream == 0 { byte & 0x1f } else { byte & 3 }
            }));
        }
        // All cycles are 0 unless the columns say otherwise: half of the heads claim that.
        let to = if round % 2 == 0 { 0 } else { r.below(3) };
        let mut bytes = header.to_vec();
        let start = bytes.len();
        bytes.push(b'B');
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend((events as u32).to_le_bytes());
        for number in [0, 0, to, xxh3_64(&payload)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((xxh3_64(&bytes[start..]) as u32).to_le_bytes());
        bytes.extend(&payload);
        match observe(&bytes) {
            Err(TraceError::Truncated { .. }) => through += 1,
            Err(e) => decoded += usize::from(!e.to_string().contains("header")),
            Ok(_) => panic!("there is no trailer"),
        }
        let mut file = TraceFile::open(Cursor::new(&bytes)).unwrap();
        assert!(file.cut().is_some() && file.blocks().len() == 1);
        let _ = file.read_block(0, &mut Block::default());
    }
    assert!(through > 10 && decoded > 10_000, "{through} payloads were good, {decoded} were looked at");
}

/// Compressed columns that claim to be, or are, far larger than the file.
#[test]
fn bombs_are_refused() {
    use xxhash_rust::xxh3::xxh3_64;
    let (_, good, _) = random_file(3, 0);
    let bomb = zstd::bulk::compress(&vec![0; 200 << 20], 3).unwrap();
    assert!(bomb.len() < 100_000);
    for claimed in [1u64, 31 << 20, 200 << 20, u64::MAX] {
        let mut payload = Vec::new();
        for stream in 0..17 {
            for mut number in if stream == 0 { [claimed, bomb.len() as u64] } else { [0, 0] } {
                while number >= 0x80 {
                    payload.push(number as u8 | 0x80);
                    number >>= 7;
                }
                payload.push(number as u8);
            }
            payload.extend(if stream == 0 { &bomb[..] } else { &[] });
        }
        let mut bytes = good[..good.len() - TAIL].to_vec();
        let start = bytes.len();
        bytes.push(b'B');
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        for number in [0, 0, 0, xxh3_64(&payload)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((xxh3_64(&bytes[start..]) as u32).to_le_bytes());
        bytes.extend(&payload);
        let why = read(&bytes).unwrap_err().to_string();
        assert!(why.contains("decompressed") || why.contains("too large"), "{why}");
    }
}

#[test]
fn errors_say_what_to_do() {
    let (_, bytes, _) = random_file(3, 150);
    let text = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(text(b"hello").contains("not a Wavebound trace"));
    assert!(text(b"WBTRACE\x09").contains("version 9"));
    assert!(text(&bytes[..bytes.len() - 100]).contains("run it again"));
    assert!(text(&bytes[..bytes.len() - TAIL - 28]).contains("no trailer"));
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(text(&longer).contains("after the trailer"));
    let mut flipped = bytes;
    let at = flipped.len() - 200;
    flipped[at] ^= 4;
    assert!(text(&flipped).contains("block checksum differs"));
}

#[test]
fn a_trace_that_was_cut_is_read_up_to_the_cut() {
    let (events, bytes, _) = random_file(7, 200_000);
    let whole = |bytes: &[u8]| {
        let mut hash = HashObserver::new();
        let replayed = replay_to_the_cut(TraceReader::open(bytes).unwrap(), &mut [&mut hash]).unwrap();
        (replayed, hash.hash())
    };
    let (all, _) = whole(&bytes);
    assert!(all.complete && all.cut.is_none() && (all.events, all.cycles) == (200_000, 12345));
    let mut before = 0;
    let last = bytes.len() - 1;
    for cut in [last / 4, last / 2, last - 150, last - 40, last] {
        let (part, _) = whole(&bytes[..cut]);
        assert!(!part.complete && matches!(part.cut, Some(TraceError::Truncated { .. })));
        assert!(part.events >= before && part.events <= 200_000);
        assert_eq!(part.events == 0, cut < last / 3);
        let last = events[..part.events as usize].iter().map(|e| e.cycle + 1).max();
        assert_eq!(last.unwrap_or(0), part.cycles);
        before = part.events;
    }
    assert_eq!(before, 200_000, "what was written is not lost");
    // Damage stays an error.
    let mut flipped = bytes;
    let at = flipped.len() / 2;
    flipped[at] ^= 4;
    assert!(replay_to_the_cut(TraceReader::open(&flipped[..]).unwrap(), &mut []).is_err());
}

#[test]
fn a_run_that_failed_leaves_a_readable_trace() {
    let mut r = Random(4);
    let mut last = event(&mut r);
    last.cycle = 41;
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes);
    writer.begin(&info());
    writer.events(&[last]);
    let end = writer.finish().unwrap();
    assert_eq!((end.complete, end.cycles), (false, 42));
    assert_eq!(read(&bytes).unwrap().1, [last]);
}

#[test]
fn write_errors_are_kept() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut writer = TraceWriter::new(Full);
    writer.begin(&info());
    writer.events(&[event(&mut Random(1))]);
    assert_eq!(writer.finish().unwrap_err().to_string(), "disk full");
}

#[test]
fn hash_sees_every_field_and_not_the_batches() {
    let mut r = Random(8);
    let events: Vec<Event> = (0..500).map(|_| event(&mut r)).collect();
    let hash = |events: &[Event], size: usize, cycles: u64| {
        let mut observer = HashObserver::new();
        events.chunks(size).for_each(|batch| observer.events(batch));
        observer.end(cycles);
        observer.hash()
    };
    let base = hash(&events, 500, 9);
    assert_eq!(base, hash(&events, 7, 9));
    assert_ne!(base, hash(&events, 500, 10));
    assert_ne!(base, hash(&events[1..], 500, 9));
    let mut other = events.clone();
    other[250].mask ^= 1 << 63;
    assert_ne!(base, hash(&other, 500, 9));
}

/// All blocks of a file, in the order of their numbers or backwards.
fn blocks(bytes: &[u8], backwards: bool) -> (TraceFile<Cursor<&[u8]>>, Vec<Block>) {
    let mut file = TraceFile::open(Cursor::new(bytes)).unwrap();
    let mut all = vec![Block::default(); file.blocks().len()];
    let mut order: Vec<usize> = (0..all.len()).collect();
    if backwards {
        order.reverse();
    }
    for i in order {
        file.read_block(i, &mut all[i]).unwrap();
    }
    (file, all)
}

#[test]
fn blocks_are_read_in_any_order() {
    let (events, bytes, end) = random_file(11, 150_000);
    let (file, forwards) = blocks(&bytes, false);
    assert_eq!(forwards, blocks(&bytes, true).1);
    assert_eq!(file.end(), Some(end));
    assert!(file.cut().is_none() && file.info() == &info());
    let joined: Vec<Event> = forwards.iter().flat_map(|b| b.events.clone()).collect();
    assert_eq!(joined, events);
    let mut first = 0;
    for (info, block) in file.blocks().iter().zip(&forwards) {
        let cycles = || block.events.iter().map(|e| e.cycle);
        assert_eq!((info.events as usize, info.first_event), (block.events.len(), first));
        assert_eq!((Some(info.from), Some(info.to)), (cycles().min(), cycles().max()));
        first += u64::from(info.events);
    }
    let mut file = file;
    assert!(file.read_block(99, &mut Block::default()).is_err());
}

/// A file that ends anywhere behind its header is read up to the last whole block.
#[test]
fn a_small_file_cut_at_every_byte() {
    let (events, bytes, _) = random_file(5, 20);
    let start = TraceFile::open(Cursor::new(&bytes[..])).unwrap().blocks()[0].offset as usize;
    let index = bytes.len() - TAIL - 28;
    for cut in start..bytes.len() {
        let (file, all) = blocks(&bytes[..cut], false);
        assert!(file.end().is_none() && matches!(file.cut(), Some(TraceError::Truncated { .. })), "{cut}");
        let all: Vec<Event> = all.into_iter().flat_map(|b| b.events).collect();
        assert_eq!(all[..], events[..if cut < index { 0 } else { 20 }]);
        let replayed = replay_to_the_cut(TraceReader::open(&bytes[..cut]).unwrap(), &mut []).unwrap();
        assert!(replayed.events == all.len() as u64 && replayed.cut.is_some() && !replayed.complete);
    }
}

#[test]
fn cut_between_and_within_blocks() {
    let mut bytes = Vec::new();
    let mut r = Random(21);
    // Lines make the blocks large, so that few events are enough for several.
    let mut writer = TraceWriter::with(&mut bytes, with_lines());
    writer.begin(&info());
    let mut events = Vec::new();
    for _ in 0..3 * 1024 {
        let mut e = event(&mut r);
        if events.len() % 128 == 7 {
            e.pc = 5;
            e.kind = Kind::Memory {
                port: PortKind::Data,
                write: true,
                lines: 1,
                hits: 0,
                misses: 0,
                evictions: 0,
                done: 0,
            };
            // Equal lines: many bytes before compression, few after.
            writer.touched(&Touched { pc: 5, write: true, local: false, lines: &vec![4096; 1 << 16] });
        }
        writer.events(&[e]);
        events.push(e);
    }
    writer.finish().unwrap();
    let header = {
        let mut empty = Vec::new();
        let mut writer = TraceWriter::with(&mut empty, with_lines());
        writer.begin(&info());
        writer.finish().unwrap();
        empty.len() - TAIL
    };
    let whole = TraceFile::open(Cursor::new(&bytes[..])).unwrap();
    let ends: Vec<(u64, u64)> =
        whole.blocks().iter().map(|b| (b.offset, b.first_event + u64::from(b.events))).collect();
    assert!(ends.len() >= 2, "{} blocks", ends.len());
    let mut seen = std::collections::BTreeSet::new();
    // Every byte where something begins or ends, and some of those between.
    let edge = |cut: usize| ends.iter().any(|e| cut.abs_diff(e.0 as usize) < 60) || cut + 200 > bytes.len();
    for cut in (header..bytes.len()).filter(|&cut| edge(cut) || cut % 997 == 0) {
        let (mut file, part) = (TraceFile::open(Cursor::new(&bytes[..cut])).unwrap(), &bytes[..cut]);
        assert!(file.end().is_none());
        assert!(matches!(file.cut(), Some(TraceError::Truncated { .. })), "{cut}: {:?}", file.cut());
        let count = file.blocks().last().map_or(0, |b| b.first_event + u64::from(b.events));
        if seen.insert(count) {
            let mut all = Vec::new();
            for i in 0..file.blocks().len() {
                let mut block = Block::default();
                file.read_block(i, &mut block).unwrap();
                all.extend(block.events);
            }
            assert_eq!(all[..], events[..count as usize]);
            let replayed = replay_to_the_cut(TraceReader::open(part).unwrap(), &mut []).unwrap();
            assert!(replayed.events == count && replayed.cut.is_some() && !replayed.complete);
        }
    }
    assert_eq!(seen.len(), ends.len() + 1, "every number of blocks was seen");
    for cut in 0..header {
        assert!(TraceReader::open(&bytes[..cut]).is_err());
        assert!(TraceFile::open(Cursor::new(&bytes[..cut])).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn touched_lines_come_back(seed: u64, count in 1usize..400, shift in 0u32..12) {
        let mut r = Random(seed);
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::with(&mut bytes, with_lines());
        writer.begin(&info());
        let (mut events, mut touched, mut sent) = (Vec::new(), Vec::new(), 0);
        for i in 0..count {
            let mut e = event(&mut r);
            e.pc = i as u32;
            events.push(e);
            if let Kind::Memory { port, write, .. } = e.kind {
                // Not every access is told.
                if r.below(4) > 0 {
                    let local = port == PortKind::Lds;
                    let lines: Vec<u64> = (0..r.below(9)).map(|_| r.mixed() >> shift << shift).collect();
                    let lines = if local { Vec::new() } else { lines };
                    writer.touched(&Touched { pc: e.pc, write, local, lines: &lines });
                    touched.push(TouchedLines { event: i as u32, write, local, lines });
                }
            }
            // As the simulator does it: lines are told at once, events in batches.
            if r.below(5) == 0 {
                writer.events(&events[sent..]);
                sent = events.len();
            }
        }
        writer.events(&events[sent..]);
        writer.finish().unwrap();
        let (file, all) = blocks(&bytes, false);
        prop_assert!(file.info().addresses);
        prop_assert_eq!(&all[0].events, &events);
        prop_assert_eq!(&all[0].touched, &touched);
    }
}

/// A file that the last program with version 1 wrote.
#[test]
fn version_1_is_read() {
    let bytes = include_bytes!("version-1.wbt");
    assert!(bytes.starts_with(b"WBTRACE\x01"));
    let (_, events, end) = read(bytes).unwrap();
    let (file, all) = blocks(bytes, false);
    assert_eq!(file.end(), Some(end));
    assert_eq!(all.iter().flat_map(|b| b.events.clone()).collect::<Vec<_>>(), events);
    let mut hash = HashObserver::new();
    hash.events(&events);
    hash.end(end.cycles);
    assert_eq!(hash.hash(), end.hash, "the hash is that of version 1");
    assert!(end.complete && end.events > 100);
    let cut = TraceFile::open(Cursor::new(&bytes[..bytes.len() - 1])).unwrap();
    assert!(cut.end().is_none() && cut.cut().is_some());
    assert!(read(&bytes[..bytes.len() - 1]).is_err());
}

/// Untimed runs number the slots of all cores together; timed ones do not.
#[test]
fn slots_are_those_of_the_machine() {
    let about = |timed| TraceInfo { timed, cores: 4, slots: 8, ..info() };
    let mut last = event(&mut Random(4));
    (last.core, last.slot) = (1, 31);
    let written = |timed: bool, slot: u16| {
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(&mut bytes);
        writer.begin(&about(timed));
        writer.events(&[Event { slot, ..last }]);
        writer.finish().unwrap();
        read(&bytes)
    };
    assert!(written(false, 31).is_ok() && written(true, 7).is_ok());
    assert!(written(false, 32).is_err() && written(true, 8).is_err());
}
