use proptest::prelude::*;
use sha2::Digest as _;

use super::*;

#[test]
fn white_space_is_folded_and_trimmed() {
    let plain = Digest::of_text("one two");
    for same in [" one two", "one\n\n two\t", "one\u{a0}\u{2028}two", "\u{3000}one\r\ntwo\u{85}"] {
        assert_eq!(Digest::of_text(same), plain, "{same:?}");
    }
    for other in ["onetwo", "one two three", "One two", "", "one\u{200b}two"] {
        assert_ne!(Digest::of_text(other), plain, "{other:?}");
    }
    assert_eq!(Digest::of_text(" \n"), Digest::of_text(""));
    assert_eq!(Digest::of_text("one two"), Digest::of_bytes(b"one two"));
}

#[test]
fn bytes_are_hashed_as_they_are() {
    assert_ne!(Digest::of_bytes(b"one  two"), Digest::of_bytes(b"one two"));
    assert_eq!(Digest::of_bytes(b"abc").hex(), "ba7816bf8f01cfea414140de5dae2223");
}

#[test]
fn only_what_was_written_is_read() {
    let written = Digest::of_text("a").hex();
    assert_eq!(Digest::parse(&written), Some(Digest::of_text("a")));
    for other in ["", "ca978112ca1bbdcafac231b39a23dc4", &format!("{written}0"), &"é".repeat(16)] {
        assert_eq!(Digest::parse(other), None, "{other}");
    }
}

proptest! {
    #[test]
    fn it_is_the_hash_of_the_engines_own_library(pieces: Vec<Vec<u8>>) {
        let (mut ours, mut theirs) = (Sha256::new(), sha2::Sha256::new());
        for piece in &pieces {
            ours.update(piece);
            theirs.update(piece);
        }
        let ours: Vec<u8> = ours.finish().iter().flat_map(|word| word.to_be_bytes()).collect();
        prop_assert_eq!(ours, theirs.finalize().to_vec());
    }

    #[test]
    fn every_length_is_padded_as_there(length in 0_usize..300) {
        let bytes = vec![7; length];
        let theirs = format!("{:x}", sha2::Sha256::digest(&bytes));
        prop_assert_eq!(Digest::of_bytes(&bytes).hex(), &theirs[..32]);
    }

    #[test]
    fn a_text_in_pieces_is_the_same_text(pieces: Vec<String>) {
        let mut folding = Folding::default();
        for piece in &pieces {
            folding.push_str(piece);
        }
        let whole = pieces.concat();
        prop_assert_eq!(folding.digest(), Digest::of_text(&whole));
        let folded = whole.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(Digest::of_text(&whole), Digest::of_bytes(folded.as_bytes()));
    }

    #[test]
    fn what_was_written_is_read(text: String) {
        let digest = Digest::of_text(&text);
        prop_assert_eq!(Digest::parse(&digest.hex()), Some(digest));
    }
}
