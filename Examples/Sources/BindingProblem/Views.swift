import SignalsDialects

// Views without a screen. A stored bond replaces the associated object of the document.

final class UILabel {
  var text = ""
  private(set) lazy var textBond = Bond<String> { [unowned self] v in text = v }
}

extension UILabel: Bondable {
  var designatedBond: Bond<String> { textBond }
}

typealias UITextView = UILabel

protocol UITableViewDataSource: AnyObject {
  var numberOfRows: Int { get }
  func cell(forRow row: Int) -> PostCell
}

final class PostCell {
  let bodyTextView = UITextView()
  let likeCountLabel = UILabel()
}

final class UITableView {
  weak var dataSource: (any UITableViewDataSource)?
  private var boundCells: DynamicArray<PostCell>?
  private(set) var changes: [String] = []
  /// A bond that makes an array of cells the data source.
  private(set) lazy var dataSourceBond: ArrayBond<PostCell> = {
    let bond = ArrayBond<PostCell>()
    bond.insertListener = { [unowned self] in changes.append("inserted \($0)") }
    bond.removeListener = { [unowned self] indices, _ in changes.append("removed \(indices)") }
    bond.updateListener = { [unowned self] in changes.append("updated \($0)") }
    bond.resetListener = { [unowned self] in changes.append("showed \($0.count)") }
    return bond
  }()

  /// The text of the rows.
  var rows: [String] {
    let cells =
      boundCells?.value
      ?? (0..<(dataSource?.numberOfRows ?? 0)).compactMap { dataSource?.cell(forRow: $0) }
    return cells.map { "\($0.bodyTextView.text) (\($0.likeCountLabel.text))" }
  }

  static func ->> (cells: DynamicArray<PostCell>, tableView: UITableView) {
    tableView.boundCells = cells
    cells ->> tableView.dataSourceBond
  }
}

final class ThreadView {
  let nameLabel = UILabel()
  let postsTableView = UITableView()
}
