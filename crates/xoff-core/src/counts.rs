//! Counters that are summed over partitions and compared between two times.

/// Declares a struct of `u64` counters with sums and differences.
#[macro_export]
macro_rules! counts {
    ($(#[$doc:meta])* $pub:vis struct $name:ident {
        $($(#[$field_doc:meta])* $field:ident),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $pub struct $name {
            $($(#[$field_doc])* $pub $field: u64,)*
        }

        impl $name {
            /// Adds another set of counters.
            $pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }

            /// Counts since an earlier snapshot.
            #[must_use]
            $pub fn since(&self, earlier: &Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)* }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    counts! {
        /// Two of them.
        struct Two {
            /// One.
            one,
            /// The other.
            other,
        }
    }

    #[test]
    fn counters_are_added_and_compared_one_by_one() {
        let mut sum = Two { one: 1, other: 20 };
        let before = sum;
        sum.add(&Two { one: 3, other: 50 });
        assert_eq!(sum, Two { one: 4, other: 70 });
        assert_eq!(sum.since(&before), Two { one: 3, other: 50 });
    }
}
