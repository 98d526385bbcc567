// The compiler of AssemblyScript and its binaryen, by way of plain JavaScript: the package's own types declare globals,
// `max` and an `at` that never gives undefined among them, which TypeScript would then believe of every file.
export { default as asc } from 'assemblyscript/asc';
export { default as binaryen } from 'assemblyscript/binaryen';
