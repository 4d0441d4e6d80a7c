# Prints the table of Scripts/bench in Markdown. Input: wanted.txt; lines `name TAB reason` of peers
# and rows that were not measured; lines of figures, `row TAB who TAB round TAB figure TAB processor time an
# operation in us TAB private dirty TAB PSS`, where - stands for a figure that does not exist.
# The variables `part` (1, 2, 3) in the arguments say which input follows.

# Returns the median of list[1 … n].
function median(list, n,   i, j, swap) {
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
      swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap
    }
  return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

# Returns the median of a column over all rounds, or "" if it has no figures.
function typical(row, who, column,   round, list, n) {
  for (round = 1; round <= rounds; round++)
    if ((row, who, round, column) in figure) list[++n] = figure[row, who, round, column]
  return n ? median(list, n) : ""
}

# Returns the median of the ratios of the rounds in which both were measured, or "".
function typical_ratio(row, peer,   round, list, n, theirs) {
  for (round = 1; round <= rounds; round++) {
    if (!((row, "binderd", round, FIGURE) in figure)) continue
    if (!((row, peer, round, FIGURE) in figure)) continue
    theirs = figure[row, peer, round, FIGURE]
    if (theirs > 0) list[++n] = figure[row, "binderd", round, FIGURE] / theirs
  }
  return n ? median(list, n) : ""
}

# Formats a number with commas between thousands.
function shown(number,   digits, text) {
  if (number == "") return ""
  if (number < 10) return sprintf("%.2f", number)
  if (number < 1000) return sprintf("%.1f", number)
  digits = sprintf("%.0f", number)
  for (; length(digits) > 3; digits = substr(digits, 1, length(digits) - 3))
    text = "," substr(digits, length(digits) - 2) text
  return digits text
}

function shown_memory(row, who) {
  return "private dirty " shown(typical(row, who, PRIVATE)) ", PSS " shown(typical(row, who, PSS))
}

function print_row(i,   row, peer, how, ratio, value, target, verdict, note) {
  row = rows[i]; peer = peers[i]; how = kinds[i]
  note = ""
  if (row in missing) note = "not measured: " missing[row]
  else if (peer in missing) note = "not measured: " missing[peer]
  else if (typical(row, "binderd", PRIVATE) != "")
    note = "binderd: " shown_memory(row, "binderd") "; " names[i] ": " shown_memory(row, peer)
  ratio = peer == "" ? "" : typical_ratio(row, peer)
  if (how == "rate") target = "≥ " bounds[i]
  else if (how == "time") target = "≤ " bounds[i]
  else if (how == "max") target = "≤ " shown_bound(bounds[i])
  value = how == "max" ? typical(row, "binderd", FIGURE) : ratio
  verdict = ""
  if (bounds[i] == "") target = ""
  else if (value != "")
    verdict = (how == "rate" ? value >= bounds[i] + 0 : value <= bounds[i] + 0) ? "ok" : "**short**"
  printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", titles[i],
    shown(typical(row, "binderd", FIGURE)), shown(typical(row, "binderd", US)), names[i],
    peer == "" ? "" : shown(typical(row, peer, FIGURE)),
    peer == "" ? "" : shown(typical(row, peer, US)),
    ratio == "" ? "" : sprintf("%.2f", ratio), target, verdict, note
}

function shown_bound(bound) { return bound < 1000 ? bound : shown(bound) }

BEGIN {
  FS = "\t"
  FIGURE = 4; US = 5; PRIVATE = 6; PSS = 7
}

part == 1 {
  if (/^#/) next
  split($0, field, "|")
  rows[++count] = field[1]; titles[count] = field[2]; peers[count] = field[3]
  names[count] = field[4]; kinds[count] = field[5]; bounds[count] = field[6]
}

part == 2 { missing[$1] = $2; isWanted[$1] = 1 }

part == 3 {
  isWanted[$1] = 1
  if ($3 > rounds) rounds = $3
  for (column = FIGURE; column <= PSS; column++)
    if ($column != "-") figure[$1, $2, $3, column] = $column + 0
}

END {
  print "| work | binderd | µs | compared with | | µs | ratio | target | | |"
  print "|---|---|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= count; i++) if (rows[i] in isWanted) print_row(i)
}
