# One line for each operation from the remarks of disco-select-kernel: the
# winner, then why every other family and order lost: its rule, or its cost.
function field(text, key,    at) {
  at = index(text, key "=")
  if (!at) return ""
  text = substr(text, at + length(key) + 1)
  sub(/[ ,].*/, "", text)
  return text
}
function name(text) {
  sub(/.*\[(Passed|Missed)\] /, "", text)
  sub(/ \| Category.*/, "", text)
  sub(/ (runtime|codegen)$/, "", text)
  return text
}
/\[Passed\]/ {
  if (line != "") print line
  line = field($0, "Function") ": " name($0) " " field($0, "Order")
}
/\[Missed\]/ {
  rule = field($0, "Rule")
  line = line " | " name($0) " " (rule == "" ? "slower" : "rule " rule)
}
END { if (line != "") print line }
