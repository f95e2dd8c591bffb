//! Every function of pinguard behind one listener on one machine, and the PostgreSQL that goes with it.

pub mod embedded;
