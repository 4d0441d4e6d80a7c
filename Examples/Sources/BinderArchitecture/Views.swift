import Signals

// Views without a screen, with the names of UIKit that the document uses.

class UIView: DisposeBagProvider, ReactiveExtensionsProvider {
  let bag = DisposeBag()
}

final class UILabel: UIView {
  var text = ""
}

final class UIImageView: UIView {
  var imageUrl: URL?
}

final class UIButton: UIView {
  private(set) var title = ""
  fileprivate let taps = PassthroughSubject<Void, Never>()

  func setTitle(_ title: String) { self.title = title }

  func sendTap() { taps.send() }
}

extension ReactiveExtensions where Base == UIButton {
  var tap: SafeSignal<Void> { base.taps.toSignal() }
}

final class FriendCell: UIView {
  let nameLabel = UILabel()
}

final class UICollectionView: UIView, LoadingStateListener {
  fileprivate(set) var cells: [FriendCell] = []
  private(set) var isLoading = false

  func setLoadingState<Value, Failure>(_ state: ObservedLoadingState<Value, Failure>) {
    isLoading = state.isLoading
  }
}

extension SignalProtocol where Error == Never {
  /// Shows a cell for each element.
  @discardableResult
  func bind<Item>(
    to view: UICollectionView, configure: @escaping (FriendCell, Item) -> Void
  ) -> any Disposable where Element == [Item] {
    bind(to: view) { view, items in
      view.cells = items.map { item in
        let cell = FriendCell()
        configure(cell, item)
        return cell
      }
    }
  }
}

class UIViewController: UIView {
  private(set) var presented: UIViewController?
  weak var navigationController: UINavigationController?

  func present(_ viewController: UIViewController, animated: Bool) { presented = viewController }
}

final class UINavigationController: UIViewController {
  private(set) var viewControllers: [UIViewController]

  init(rootViewController: UIViewController) {
    viewControllers = [rootViewController]
    super.init()
    rootViewController.navigationController = self
  }

  func pushViewController(_ viewController: UIViewController, animated: Bool) {
    viewControllers.append(viewController)
    viewController.navigationController = self
  }
}

struct URL {
  let string: String
}
