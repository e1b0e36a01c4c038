//! `settings`: small named values in the same transaction.

use alloc::string::ToString;

use crate::material::{A, session};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::{Trial, trap};

const SUBJECT: &str = "settings";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`get` answers in the order asked, absent where never set; `set` replaces, the \
            last value of a list last.",
        steps: &[writes(set_some), reads(see_values), reads(see_values).reopened()],
    },
    Case {
        subject: SUBJECT,
        rule: "Settings are part of the transaction.",
        steps: &[
            writes(set_some),
            writes(set_in_vain),
            writes(set_and_trap).traps(),
            reads(see_values),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "What a host keeps for itself is no setting of the core's, whatever it is called.",
        steps: &[writes(take_the_hosts_name), reads(see_both)],
    },
];

fn set_some(t: &mut Trial) -> Played {
    t.set(&[("retention.history-days", "30"), ("notice-template", "first"), ("empty", "")])?;
    t.set(&[("notice-template", "second"), ("notice-template", "third"), ("Empty", "other")])
}

fn see_values(t: &mut Trial) -> Played {
    let names = [
        "notice-template",
        "never",
        "empty",
        "retention.history-days",
        "notice-template",
        "Empty",
        "retention",
    ];
    let must = [Some("third"), None, Some(""), Some("30"), Some("third"), Some("other"), None];
    let was = t.get(&names)?;
    t.must_be(
        &alloc::format!("`settings.get` of {names:?}"),
        &was,
        &must.map(|value| value.map(ToString::to_string)),
    );
    let was = t.get(&[])?;
    t.must_be("`settings.get` of no name", &was, &[]);
    Ok(())
}

fn set_other(t: &mut Trial) -> Played {
    t.set(&[("notice-template", "lost"), ("never", "lost")])?;
    let was = t.get(&["never"])?;
    t.must_be("a setting within the step that set it", &was, &[Some("lost".to_string())]);
    Ok(())
}

fn set_in_vain(t: &mut Trial) -> Played {
    set_other(t)?;
    Err(Stop::OnPurpose)
}

fn set_and_trap(t: &mut Trial) -> Played {
    set_other(t)?;
    trap()
}

fn take_the_hosts_name(t: &mut Trial) -> Played {
    let position = t.restored(5)?;
    t.note("position", position)?;
    t.set(&[("restored-at", "9"), ("restored_at", "9")])
}

fn see_both(t: &mut Trial) -> Played {
    let position = t.noted("position")?;
    let was = t.history(&session(A), 0, 1)?.restored_at;
    t.must_be(
        "`restored-at` in `history` after the core set a setting of that name to 9",
        &was,
        &position,
    );
    let was = t.get(&["restored-at"])?;
    t.must_be("that setting", &was, &[Some("9".to_string())]);
    Ok(())
}
