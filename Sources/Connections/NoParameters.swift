/// The parameters of a method that takes none.
package struct NoParameters: Decodable {
  private enum Keys: CodingKey {}

  package init() {}

  package init(from decoder: any Decoder) throws {
    // Opens the container so that the decoder can report unknown members.
    _ = try decoder.container(keyedBy: Keys.self)
  }
}
