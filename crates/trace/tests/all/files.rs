//! Trace files: what was written is read back, damage of any kind is an error and nothing worse.

use proptest::prelude::*;
use wb_trace::*;

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
        let header = bytes.len() - 34;
        let mut bytes = bytes[..header].to_vec();
        bytes.extend(tail);
        prop_assert!(read(&bytes).is_err());
    }
}

#[test]
fn many_blocks() {
    let (events, bytes, _) = random_file(7, 30_000);
    assert!(bytes.len() > 4 * 65536);
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

/// Damage that a checksum does not see: blocks with correct checksums and random payload.
#[test]
fn hostile_blocks() {
    let (_, good, _) = random_file(3, 0);
    let header = &good[..good.len() - 34];
    let mut r = Random(5);
    let mut through = 0;
    for _ in 0..20_000 {
        let length = r.below(60) as usize + 2;
        let payload: Vec<u8> =
            (0..length).map(|_| (r.next() as u8) & if r.below(2) == 0 { 0x7f } else { 0xff }).collect();
        let mut bytes = header.to_vec();
        bytes.push(b'B');
        bytes.extend((length as u32).to_le_bytes());
        bytes.extend((r.below(length as u64 / 2) as u32 + 1).to_le_bytes());
        bytes.extend(xxhash_rust::xxh3::xxh3_64(&payload).to_le_bytes());
        bytes.extend(&payload);
        match observe(&bytes) {
            Err(TraceError::Truncated { .. }) => through += 1,
            Err(_) => {}
            Ok(_) => panic!("there is no trailer"),
        }
    }
    assert!(through > 10, "{through} payloads were decoded");
}

#[test]
fn errors_say_what_to_do() {
    let (_, bytes, _) = random_file(3, 150);
    let text = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert!(text(b"hello").contains("not a Wavebound trace"));
    assert!(text(b"WBTRACE\x09").contains("version 9"));
    assert!(text(&bytes[..bytes.len() - 40]).contains("run it again"));
    assert!(text(&bytes[..bytes.len() - 34]).contains("no trailer"));
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(text(&longer).contains("after the trailer"));
    let mut flipped = bytes;
    let at = flipped.len() - 100;
    flipped[at] ^= 4;
    assert!(text(&flipped).contains("block checksum differs"));
}

#[test]
fn a_trace_that_was_cut_is_read_up_to_the_cut() {
    let (events, bytes, _) = random_file(7, 30_000);
    let whole = |bytes: &[u8]| {
        let mut hash = HashObserver::new();
        let replayed = replay_to_the_cut(TraceReader::open(bytes).unwrap(), &mut [&mut hash]).unwrap();
        (replayed, hash.hash())
    };
    let (all, hash) = whole(&bytes);
    assert!(all.complete && all.cut.is_none() && (all.events, all.cycles) == (30_000, 12345));
    let mut before = 0;
    for cut in [bytes.len() / 4, bytes.len() / 2, bytes.len() - 40, bytes.len() - 1] {
        let (part, other) = whole(&bytes[..cut]);
        assert!(!part.complete && matches!(part.cut, Some(TraceError::Truncated { .. })));
        assert!(part.events >= before && part.events <= 30_000 && other != hash);
        let last = events[..part.events as usize].iter().map(|e| e.cycle + 1).max();
        assert_eq!(last, Some(part.cycles));
        before = part.events;
    }
    assert!(before > 29_000, "what was written is not lost");
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
