// Measures the cost of an event, beside the least it can cost in Swift.

let works = Works()
measure([
  works.subjectRow(1, limit: 2.5), works.subjectRow(10, limit: 1.5),
  works.propertyRow(1, limit: 3), works.propertyRow(10, limit: 1.5),
  works.chainRow(),
  works.combineLatestRow(),
  works.derivedRow(),
])

measureSubscription()
measureAppend()
