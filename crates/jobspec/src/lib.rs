//! The job language: HCL2 text to the API's job, with diagnostics that point at the line. No I/O.
