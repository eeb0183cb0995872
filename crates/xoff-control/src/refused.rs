//! Why a datagram is refused.

use std::fmt;

/// Declares the reasons with their names and texts, and a counter for each.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident, $field:ident, $name:literal, $text:literal;)*) => {
        /// Why a datagram was refused. It has changed nothing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Refused {
            $($(#[$doc])* $reason,)*
        }

        impl Refused {
            /// A name for counters.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }

        impl fmt::Display for Refused {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$reason => $text,)*
                })
            }
        }

        impl std::error::Error for Refused {}

        xoff_core::counts! {
            /// Refused datagrams by reason.
            pub struct RefusedCounts {
                $($(#[$doc])* $field,)*
            }
        }

        impl RefusedCounts {
            pub(crate) fn count(&mut self, reason: Refused) {
                match reason {
                    $(Refused::$reason => self.$field += 1,)*
                }
            }

            /// All refused datagrams.
            #[must_use]
            pub fn total(&self) -> u64 {
                self.iter().map(|(_, count)| count).sum()
            }

            /// Each reason with its count.
            pub fn iter(&self) -> impl Iterator<Item = (Refused, u64)> {
                [$((Refused::$reason, self.$field),)*].into_iter()
            }
        }
    };
}

reasons! {
    /// Too short or too long for any message.
    Length, length, "length", "its length is that of no message";
    /// Not this protocol, or another version of it.
    Version, version, "version", "it is not of version 1 of this protocol";
    /// A kind of message that this side does not receive.
    Kind, kind, "kind", "this side does not receive its kind of message";
    /// An endpoint without key here.
    Endpoint, endpoint, "endpoint", "its endpoint has no key here";
    /// The tag does not fit: another key, or a changed datagram.
    Tag, tag, "tag", "its tag is wrong: another key, or changed on its way";
    /// Authentic, but of no connection that exists.
    Connection, connection, "connection", "it belongs to no open connection";
    /// Authentic, but not newer than the newest one: replayed, duplicated or reordered.
    Sequence, sequence, "sequence", "it is not newer than the newest one";
    /// Authentic, but it acknowledges a datagram of long ago: it was held back on its way.
    Stale, stale, "stale", "it was held back on its way";
    /// Authentic, but not well-formed.
    Content, content, "content", "its content is not well-formed";
    /// Authentic, but it numbers a flowlet above the limit.
    Limit, limit, "limit", "it has a flowlet above the limit";
    /// Authentic, but its endpoint reports more than it may.
    Budget, budget, "budget", "its endpoint reports too much";
    /// Authentic, but this allocator stands by for another one.
    Standby, standby, "standby", "this allocator stands by for another one";
}
