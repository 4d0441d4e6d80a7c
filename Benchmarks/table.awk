# Prints the table of Scripts/bench, from wanted.txt and sorted lines `row TAB who TAB figure`.

function median(name,   n) {
  n = count[name]
  if (n % 2) return figure[name, (n + 1) / 2]
  return (figure[name, n / 2] + figure[name, n / 2 + 1]) / 2
}

# Formats a number with commas between thousands.
function shown(number,   digits, text) {
  if (number < 10) return sprintf("%.2f", number)
  if (number < 1000) return sprintf("%.1f", number)
  digits = sprintf("%.0f", number)
  for (; length(digits) > 3; digits = substr(digits, 1, length(digits) - 3))
    text = "," substr(digits, length(digits) - 2) text
  return digits text
}

function print_row(row,   ours, theirs, disk, ratio, value, isEnough, note) {
  ours = median(row "\tbinderd")
  theirs = median(row "\tredis")
  note = "redis: " against[row]
  if ((row "\tdisk") in count) {
    disk = median(row "\tdisk")
    note = note " " shown(theirs) " + fdatasync " shown(disk)
    theirs += disk
  }
  if ((row "\tfloor") in count) note = note "; floor: " shown(median(row "\tfloor"))
  ratio = ours / theirs
  value = how[row] == "KiB" ? ours : ratio
  isEnough = how[row] == "rate" ? value >= bound[row] : value <= bound[row]
  printf "%-54s %11s %11s %6.2f  %-11s %-6s %s\n", what[row], shown(ours), shown(theirs), ratio,
    (how[row] == "rate" ? ">= " : "<= ") bound[row] (how[row] == "KiB" ? " KiB" : ""),
    isEnough ? "ok" : "short", note
}

FNR == NR {
  if (/^#/) next
  split($0, part, "|")
  rows[++length_of_rows] = part[1]
  what[part[1]] = part[2]
  against[part[1]] = part[3]
  how[part[1]] = part[4]
  bound[part[1]] = part[5] + 0
  next
}

{
  name = $1 "\t" $2
  figure[name, ++count[name]] = $3
}

END {
  printf "%-54s %11s %11s %6s  %s\n", "", "binderd", "redis", "ratio", "wanted"
  for (i = 1; i <= length_of_rows; i++) if ((rows[i] "\tbinderd") in count) print_row(rows[i])
}
