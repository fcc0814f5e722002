// RUN: disco-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected the number of basis functions to be positive, but got 0}}
func.func private @psi_C1_no_basis(!disco.psi<sphere, 0, 16x32 -> 16x32>)

// -----

// expected-error @+1 {{expected the number of basis functions to be positive, but got -9223372036854775808}}
func.func private @psi_C1_smallest_integer(!disco.psi<csr, -9223372036854775808, 300 -> 33>)

// -----

// expected-error @+1 {{expected the input of a sphere psi to have 2 dimensions, but got 512}}
func.func private @psi_C2_sphere_of_points(!disco.psi<sphere, 9, 512 -> 16x32>)

// -----

// expected-error @+1 {{expected the output of a sphere psi to have 2 dimensions, but got 4x4x32}}
func.func private @psi_C2_sphere_of_volumes(!disco.psi<sphere, 9, 16x32 -> 4x4x32>)

// -----

// expected-error @+1 {{expected the input of a csr psi to have 1 dimensions, but got 16x32}}
func.func private @psi_C2_csr_of_grids(!disco.psi<csr, 9, 16x32 -> 33>)

// -----

// expected-error @+1 {{expected the output of a table psi to have 1 dimensions, but got 4x10}}
func.func private @psi_C2_table_of_grids(!disco.psi<table<5>, 9, 128 -> 4x10>)

// -----

// expected-error @+1 {{expected the input dimensions of a psi to be positive, but got 0}}
func.func private @psi_C2_no_input(!disco.psi<csr, 9, 0 -> 33>)

// -----

// expected-error @+1 {{expected the output dimensions of a psi to be positive, but got 16x0}}
func.func private @psi_C2_no_longitudes(!disco.psi<sphere, 9, 16x32 -> 16x0>)

// -----

// expected-error @+1 {{expected one nlon of a sphere psi to divide the other, but got 32 and 12}}
func.func private @psi_C3_nlon(!disco.psi<sphere, 9, 16x32 -> 16x12>)

// -----

// expected-error @+1 {{expected the degree of a table psi to be positive, but got 0}}
func.func private @psi_C4_table_without_degree(!disco.psi<table, 9, 128 -> 40>)

// -----

// expected-error @+1 {{expected the degree of a table psi to be positive, but got -5}}
func.func private @psi_C4_negative_degree(!disco.psi<table<-5>, 9, 128 -> 40>)

// -----

// expected-error @+1 {{expected a sphere psi to have no degree, but got 5}}
func.func private @psi_C4_sphere_with_degree(!disco.psi<sphere<5>, 9, 16x32 -> 16x32>)

// -----

// expected-error @+1 {{expected a csr psi to have no degree, but got 5}}
func.func private @psi_C4_csr_with_degree(!disco.psi<csr<5>, 9, 300 -> 33>)

// -----

// expected-error @+1 {{expected a psi to have fewer than 2147483648 input points, but got 2147483648}}
func.func private @psi_C5_input_points(!disco.psi<csr, 9, 2147483648 -> 33>)

// -----

// The product overflows 64 bits.
// expected-error @+1 {{expected a psi to have fewer than 2147483648 output points, but got 4294967296x4294967296}}
func.func private @psi_C5_output_points(!disco.psi<sphere, 9, 16x32 -> 4294967296x4294967296>)

// -----

// The largest that is legal.
func.func private @psi_C5_most_points(!disco.psi<csr, 9223372036854775807, 2147483647 -> 2147483647>)

// -----

// expected-error @+1 {{expected the structure of a psi to be sphere, table or csr, but got ring}}
func.func private @psi_structure(!disco.psi<ring, 9, 16x32 -> 16x32>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @psi_dynamic_points(!disco.psi<csr, 9, ? -> 33>)

// -----

// expected-error @+1 {{expected '->'}}
func.func private @psi_without_output(!disco.psi<csr, 9, 300>)

// -----

// expected-error @+1 {{integer value too large}}
func.func private @psi_overflow(!disco.psi<csr, 9223372036854775808, 300 -> 33>)

// -----

// expected-error @+1 {{unknown  type `phi` in dialect `disco`}}
func.func private @unknown_type(!disco.phi<csr, 9, 300 -> 33>)
