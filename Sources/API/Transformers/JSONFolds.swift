internal import JSON
internal import Signals

// The transformers that look at the elements of an array one after the other.

extension TransformerRegistry where Value == JSONValue {
  /// Registers the transformers of the elements of an array.
  mutating func registerAggregates() {
    registerTotals()
    registerCalculations()
    registerTruth()
  }

  private mutating func registerTotals() {
    register(fold: "sum", .numbers, "the sum of an array of numbers; ignores null") {
      var sum = Sum("sum")
      return .ofNumbers("sum") {
        try sum.add($0)
      } result: {
        .number(try sum.result())
      }
    }
    register(fold: "avg", .numbers, "the average of an array of numbers; ignores null") {
      var sum = Sum("avg")
      return .ofNumbers("avg") {
        try sum.add($0)
      } result: {
        sum.count == 0 ? .null : .number(try quotient(sum.result(), sum.count))
      }
    }
    register(fold: "min", .numbers, "the least of an array of numbers; ignores null") {
      var least: JSONNumber?
      return .ofNumbers("min") { number in
        if least.map({ JSONNumber.isLess(number, $0) }) ?? true { least = number }
      } result: {
        least.map { .number($0) } ?? .null
      }
    }
    register(fold: "max", .numbers, "the greatest of an array of numbers; ignores null") {
      var greatest: JSONNumber?
      return .ofNumbers("max") { number in
        if greatest.map({ JSONNumber.isLess($0, number) }) ?? true { greatest = number }
      } result: {
        greatest.map { .number($0) } ?? .null
      }
    }
  }

  private mutating func registerCalculations() {
    register(
      fold: "minus", .numbers,
      "the first number of an array without the others; null if one is null"
    ) {
      var sum = Sum("minus")
      return .ofOperands("minus") {
        try sum.add($0)
      } other: { number in
        guard case .number(let negated) = try calculate(.number(number), "minus", -) else { return }
        try sum.add(negated)
      } result: {
        .number(try sum.result())
      }
    }
    register(
      fold: "times", .numbers, "the product of an array of numbers; null if one is null"
    ) {
      var product = JSONValue.null
      return .ofOperands("times") {
        product = .number($0)
      } other: { number in
        product = try calculate(product, "times") { $0 * number.double }
      } result: {
        product
      }
    }
    register(
      fold: "divided", .numbers,
      "the first number of an array divided by the others; null if one is null or 0"
    ) {
      // The quotient, or its fault; a 0 behind the fault makes the result null.
      var quotient = Result<JSONValue, any Error>.success(.null)
      var hasZero = false
      return .ofOperands("divided") {
        quotient = .success(.number($0))
      } other: { number in
        hasZero = hasZero || number.double == 0
        guard !hasZero, let before = try? quotient.get() else { return }
        quotient = Result { try calculate(before, "divided") { $0 / number.double } }
      } result: {
        hasZero ? .null : try quotient.get()
      }
    }
  }

  private mutating func registerTruth() {
    register(fold: "same", .any, "whether all elements of an array are the same") {
      var (first, isSame): (JSONValue?, Bool) = (nil, true)
      return .init { element in
        if let first { isSame = isSame && element == first } else { first = element }
      } result: {
        .bool(isSame)
      }
    }
    register(fold: "all", .booleans, "whether all elements are true; null counts as false") {
      var areAll = true
      return .init {
        let isTrue = try $0 == .null ? false : bool($0, "all")
        areAll = areAll && isTrue
      } result: {
        .bool(areAll)
      }
    }
    register(fold: "any", .booleans, "whether an element is true; null counts as false") {
      var isAny = false
      return .init {
        let isTrue = try $0 == .null ? false : bool($0, "any")
        isAny = isAny || isTrue
      } result: {
        .bool(isAny)
      }
    }
  }

  /// Registers a transformer of the elements of an array.
  private mutating func register(
    fold name: String, _ elements: Elements, _ doc: String,
    begin: @escaping () -> Fold<JSONValue, JSONValue>.Run
  ) {
    let fold = Fold<JSONValue, JSONValue>(
      of: { value in
        guard case .array(let array) = value else {
          throw TransformerFault(name, elements.rawValue, value)
        }
        return array
      }, begin: begin)
    register(name, Transformer(fold), doc: doc)
  }
}

/// The elements that an array must have, as faults say it.
private enum Elements: String {
  case any = "an array"
  case numbers = "an array of numbers"
  case booleans = "an array of true and false"
}

extension Fold<JSONValue, JSONValue>.Run {
  /// Adds the numbers of an array, without `null`.
  fileprivate static func ofNumbers(
    _ name: String, _ add: @escaping (JSONNumber) throws -> Void,
    result: @escaping () throws -> JSONValue
  ) -> Self {
    Self(
      add: { element in
        if case .null = element { return }
        try add(try element.number(name))
      }, result: result)
  }

  /// Adds the first number of an array and the others; the result is `null` if one is `null`, or if
  /// there is none.
  ///
  /// - Parameter other: Adds another number.
  fileprivate static func ofOperands(
    _ name: String, first: @escaping (JSONNumber) throws -> Void,
    other: @escaping (JSONNumber) throws -> Void,
    result: @escaping () throws -> JSONValue
  ) -> Self {
    var (isFirst, isNull) = (true, false)
    // A `null` behind it makes the result `null`.
    var fault: (any Error)?
    return Self(
      add: { element in
        if case .null = element { isNull = true }
        guard !isNull, fault == nil else { return }
        do {
          let number = try element.number(name)
          if isFirst { try first(number) } else { try other(number) }
          isFirst = false
        } catch {
          fault = error
        }
      },
      result: {
        if isFirst && fault == nil || isNull { return .null }
        if let fault { throw fault }
        return try result()
      })
  }
}

/// Returns the sum of numbers.
func sum(of numbers: [JSONNumber], _ name: String) throws -> JSONNumber {
  var sum = Sum(name)
  for number in numbers { try sum.add(number) }
  return try sum.result()
}

/// The sum of numbers, which are added one by one.
///
/// Short integers are added without their texts: a list may have a million numbers.
private struct Sum {
  /// The transformer that a fault names.
  private let name: String
  private var integers: Int64 = 0
  private var total = JSONNumber(0)
  private(set) var count = 0

  init(_ name: String) { self.name = name }

  mutating func add(_ number: JSONNumber) throws {
    count += 1
    guard let integer = number.shortInteger else { return try addToTotal(number) }
    let (next, isTooLarge) = integers.addingReportingOverflow(integer)
    if isTooLarge { try addToTotal(JSONNumber(integers)) }
    integers = isTooLarge ? integer : next
  }

  private mutating func addToTotal(_ number: JSONNumber) throws {
    guard let next = total.adding(number) else {
      throw TransformerFault(name, "a number that does not grow too large", .number(number))
    }
    total = next
  }

  /// Returns the sum of all numbers so far.
  mutating func result() throws -> JSONNumber {
    if integers != 0 { try addToTotal(JSONNumber(integers)) }
    integers = 0
    return total
  }
}
