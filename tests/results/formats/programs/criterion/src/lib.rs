pub fn plus(words: &[&str]) -> String { let mut s = String::new(); for w in words { s = s + w; } s }
