/// Positions in one list while elements leave it and others arrive, in any order.
///
/// The list itself is not needed.
///
/// Staying elements keep their order. Each leaving or arriving element has a fixed place between
/// two staying ones, arriving elements before leaving ones. A position is the number of staying
/// elements and taken places before it.
package struct SiblingPlan {
  /// Source indices of leaving elements, ascending.
  private let leaving: [Int]
  /// Final indices of arriving elements, ascending.
  private let arriving: [Int]
  /// Final indices of arriving and inserted elements, ascending.
  private let new: [Int]
  /// The places of `leaving` and `arriving`, in the same order.
  private let leavingPlaces: [Int]
  private let arrivingPlaces: [Int]
  /// Number of staying elements before each place, ascending.
  private let stayingBefore: [Int]
  /// Counts 1 for each taken place.
  private var taken: Fenwick

  package init(leaving: [Int], arriving: [Int], inserted: [Int]) {
    self.leaving = leaving.sorted()
    self.arriving = arriving.sorted()
    new = (arriving + inserted).sorted()
    let stayingBeforeLeaving = self.leaving.indices.map { [leaving = self.leaving] in
      leaving[$0] - $0
    }
    let stayingBeforeArriving = self.arriving.map { [new] in $0 - new.count(below: $0) }
    var (leavingPlaces, arrivingPlaces, stayingBefore) = ([Int](), [Int](), [Int]())
    var (i, j) = (0, 0)
    while i < self.leaving.count || j < self.arriving.count {
      let place = i + j
      if j < self.arriving.count,
        i == self.leaving.count || stayingBeforeArriving[j] <= stayingBeforeLeaving[i]
      {
        arrivingPlaces.append(place)
        stayingBefore.append(stayingBeforeArriving[j])
        j += 1
      } else {
        leavingPlaces.append(place)
        stayingBefore.append(stayingBeforeLeaving[i])
        i += 1
      }
    }
    self.leavingPlaces = leavingPlaces
    self.arrivingPlaces = arrivingPlaces
    self.stayingBefore = stayingBefore
    taken = Fenwick(count: stayingBefore.count)
    for place in leavingPlaces { taken.add(1, at: place) }
  }

  /// Returns the current position of the element with a source index, which has not left.
  package func position(ofSource index: Int) -> Int {
    let i = leaving.count(below: index)
    guard i < leaving.count, leaving[i] == index else {
      let staying = index - i
      return staying + taken.sum(below: stayingBefore.count(below: staying + 1))
    }
    return position(ofPlace: leavingPlaces[i])
  }

  /// Returns the current or future position of the arriving element with a final index.
  package func position(ofArriving index: Int) -> Int {
    position(ofPlace: arrivingPlaces[arriving.count(below: index)])
  }

  /// Marks the element with a source index as removed.
  package mutating func leave(_ index: Int) {
    taken.add(-1, at: leavingPlaces[leaving.count(below: index)])
  }

  /// Marks the element with a final index as arrived.
  package mutating func arrive(_ index: Int) {
    taken.add(1, at: arrivingPlaces[arriving.count(below: index)])
  }

  /// Returns the final index of the staying element with a source index.
  package func finalIndex(ofSource index: Int) -> Int {
    new.free(index - leaving.count(below: index))
  }

  /// Returns the source index of the staying element with a final index.
  package func sourceIndex(ofFinal index: Int) -> Int {
    leaving.free(index - new.count(below: index))
  }

  private func position(ofPlace place: Int) -> Int {
    stayingBefore[place] + taken.sum(below: place)
  }
}
