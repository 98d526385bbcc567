// The entry of a serving thread: reads the program as it is kept, where it is, and is servingThread.ts then.
// Plain JavaScript, so that no thread starts the stripping of types for this file alone. Started by servingThreads.ts.
import './keptProgram.js';

await import('./servingThread.ts');
