internal import Wire

/// Parses the date formats of feeds.
enum FeedDate {
  /// Returns a date as RFC 3339 text in UTC; `nil` if the text is not a date.
  static func parse(_ text: String) -> String? {
    guard let line = text.asLine else { return nil }
    if let time = Timestamp(line) { return time.text }
    return ofMail(line).flatMap { Timestamp($0)?.text }
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// Hours from UTC by RFC 822 zone name, without the military letters that later RFCs withdrew.
  private static let zones = [
    "gmt": 0, "ut": 0, "utc": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7,
  ]

  /// Returns a date such as `Sat, 07 Nov 2026 09:30:00 +0100` as RFC 3339 text.
  ///
  /// The day of the week and the seconds are optional.
  private static func ofMail(_ text: String) -> String? {
    var words = text.lowercased().split(separator: " ").map(String.init)
    if words.first?.hasSuffix(",") == true { words.removeFirst() }
    guard words.count == 4 || words.count == 5, let day = Int(words[0]), var year = Int(words[2]),
      let month = months.firstIndex(where: { words[1].hasPrefix($0) })
    else { return nil }
    if year < 100 { year += year < 50 ? 2000 : 1900 }
    let time = words[3].split(separator: ":").compactMap { Int($0) }
    guard 2...3 ~= time.count, let offset = offset(words.count == 5 ? words[4] : "z") else {
      return nil
    }
    let date = "\(digits(year, 4))-\(digits(month + 1))-\(digits(day))"
    return
      "\(date)T\(digits(time[0])):\(digits(time[1])):\(digits(time.count == 3 ? time[2] : 0))\(offset)"
  }

  private static func offset(_ zone: String) -> String? {
    if let hours = zones[zone] { return (hours < 0 ? "-" : "+") + digits(abs(hours)) + ":00" }
    guard zone.utf8.count == 5, let sign = zone.first, "+-".contains(sign),
      zone.dropFirst().utf8.allSatisfy({ 0x30...0x39 ~= $0 })
    else { return nil }
    return "\(sign)\(zone.dropFirst().prefix(2)):\(zone.suffix(2))"
  }

  private static func digits(_ number: Int, _ count: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}
