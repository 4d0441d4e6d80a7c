/// No parameters.
package struct NoParameters: Decodable {
  private enum Keys: CodingKey {}

  package init() {}

  package init(from decoder: any Decoder) throws {
    // Looked into, so that what stands there is noticed.
    _ = try decoder.container(keyedBy: Keys.self)
  }
}
