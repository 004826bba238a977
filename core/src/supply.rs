//! The supply of ids of all tags of one source, from the first wish to the last mark: the machine `Supply` and its parts.
