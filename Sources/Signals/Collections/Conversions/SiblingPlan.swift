/// How a list gets from what it was to what it is to be, without the list: where its elements are
/// while those that leave it leave, and those that move into it arrive, in any order.
///
/// What stays keeps its order. Between two that stay there is, in this order, what arrives there
/// and what has not yet left; so everything has a place for all of the time, and where it is can
/// be counted.
struct SiblingPlan {
  /// Where those were that leave, ascending.
  private let leaving: [Int]
  /// Where those will be that arrive, ascending.
  private let arriving: [Int]
  /// Where anything will be that is new, inserted ones included, ascending.
  private let new: [Int]
  /// The places of those that leave and arrive.
  private let leavingPlaces: [Int]
  private let arrivingPlaces: [Int]
  /// How many of those that stay are before each place, ascending.
  private let stayingBefore: [Int]
  /// Which places are taken.
  private var taken: Fenwick

  init(leaving: [Int], arriving: [Int], inserted: [Int]) {
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

  /// Where the one is that was at an index: it has not left.
  func position(ofSource index: Int) -> Int {
    let i = leaving.count(below: index)
    guard i < leaving.count, leaving[i] == index else {
      let staying = index - i
      return staying + taken.sum(below: stayingBefore.count(below: staying + 1))
    }
    return position(ofPlace: leavingPlaces[i])
  }

  /// Where the one is, or would be, that will be at an index.
  func position(ofArriving index: Int) -> Int {
    position(ofPlace: arrivingPlaces[arriving.count(below: index)])
  }

  /// Takes note that the one that was at an index has left.
  mutating func leave(_ index: Int) {
    taken.add(-1, at: leavingPlaces[leaving.count(below: index)])
  }

  /// Takes note that the one that will be at an index has arrived.
  mutating func arrive(_ index: Int) {
    taken.add(1, at: arrivingPlaces[arriving.count(below: index)])
  }

  /// Where the one will be that was at an index and stays.
  func finalIndex(ofSource index: Int) -> Int {
    new.free(index - leaving.count(below: index))
  }

  /// Where the one was that will be at an index and stayed.
  func sourceIndex(ofFinal index: Int) -> Int {
    leaving.free(index - new.count(below: index))
  }

  private func position(ofPlace place: Int) -> Int {
    stayingBefore[place] + taken.sum(below: place)
  }
}
