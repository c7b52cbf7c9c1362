# What Doxygen sees of a header. The inline namespaces (bits version, compiled or simulated kernels) are not part of a
# name that readers write.
s/isobit::inline bits1/isobit/
s/::inline ISOBIT_KERNELS//
s/::inline ISOBIT_SIMT_VARIANT//
# Doxygen 1.9.4 does not find the end of this initialiser.
/static constexpr uint32_t exception =$/{
N
s/ =\n.*/;/
}
# The comment of a macro that no host sees; it would become that of the namespace below it.
s,^//! Defined while code for a GPU,// Defined while code for a GPU,
