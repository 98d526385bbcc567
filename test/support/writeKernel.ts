// Writes the compiled kernel, engine/kernel/bytes.ts: `npm run kernel`, after its sources were changed.
import { writeFileSync } from 'node:fs';
import { compileKernel } from './compileKernel.ts';
import { kernelFile } from './kernelFile.ts';

writeFileSync(new URL('../../engine/kernel/bytes.ts', import.meta.url), kernelFile(await compileKernel()));
