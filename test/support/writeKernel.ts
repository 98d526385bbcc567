// Writes what is compiled from AssemblyScript: `npm run kernel`, after its sources were changed.
import { writeFileSync } from 'node:fs';
import { COMPILED, compiledFile } from './compiledFiles.ts';

for (const compiled of COMPILED) {
  writeFileSync(new URL(`../../${compiled.file}`, import.meta.url), await compiledFile(compiled));
}
