//! Nothing: this package exists for its tests, which lie in `it/`.
