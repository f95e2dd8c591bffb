//! Values and type names against real servers: what a caller reads is what the server itself says it is.

mod built_in;
mod extensions;
mod names;
mod reading;
mod shapes;
mod user_types;
