import Signals

// Views without a screen. A property that bindings follow is a `Property`.

final class UILabel: BindShorthand {
  static let bindShorthand = "text"
  let text = Property("")
}

final class UITextField: BindShorthand {
  static let bindShorthand = "text"
  let text = Property("")
}

final class UIButton: BindShorthand {
  static let bindShorthand = "onTouchUpInside"
  let onTouchUpInside = PassthroughSubject<Void, Never>()
}

final class UIImageView {
  let image = Property<UIImage?>(nil)
}

struct UIImage: Equatable {
  let name: String
}

struct URL {
  let string: String
}

final class UITableView {
  private(set) var reloads = 0

  func reloadData() { reloads += 1 }
}

class BindTableViewCell: BindView {
  let textLabel = UILabel()
  let detailTextLabel = UILabel()
  let onTouchUpInside = PassthroughSubject<Void, Never>()
}
