// The files that pages load if no descriptor is free for a moment, and the contrast of borders.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ASSETS_URL = new URL('../../../../../server/pages/browse/assets.ts', import.meta.url).href;

/** Imports the files without a free descriptor, and again with some. */
const SCRIPT = `import { closeSync, openSync } from 'node:fs';
  import { assetNamed, assetPath } from ${JSON.stringify(ASSETS_URL)};
  const held = [];
  const attempt = (work) => {
    try {
      return work();
    } catch (error) {
      return error.code;
    }
  };
  while (attempt(() => held.push(openSync('/dev/null'))) !== 'EMFILE');
  const starved = attempt(() => assetPath('style'));
  held.forEach((descriptor) => closeSync(descriptor));
  const { type } = assetNamed(assetPath('script').split('/').at(-1));
  process.stdout.write(JSON.stringify([starved, assetPath('style'), type]));`;

test.skipIf(process.platform === 'win32')('reads assets again for the next page after a lack of descriptors', () => {
  const words = ['-c', 'ulimit -n 100; exec "$0" --input-type=module --eval "$1"', process.execPath, SCRIPT];
  const [starved, style, type] = JSON.parse(execFileSync('sh', words, { encoding: 'utf8' })) as readonly string[];
  expect(starved).toBe('EMFILE');
  expect(style).toMatch(/^browse\/assets\/browse-[0-9a-f]{16}\.css$/);
  expect(type).toMatch(/^text\/javascript/);
});

const STYLE = readFileSync(new URL('../../../../../server/pages/browse/assets/browse.css', import.meta.url), 'utf8');

/** A colour of the style sheet, in light and in dark. */
function colourOf(name: string): readonly string[] {
  return new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(STYLE)!.slice(1);
}

/** Relative luminance, WCAG 2.2. */
function luminanceOf(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

test.each(['paper', 'raised', 'sunk'])(
  'shows the borders of inputs on %s with enough contrast, in light and in dark (WCAG 1.4.11)',
  (ground) => {
    expect(STYLE).toMatch(/\ninput,\nselect,\nbutton \{[^}]*border: 1px solid var\(--edge\);/);
    for (const look of [0, 1]) {
      const [dark, light] = [colourOf('edge'), colourOf(ground)]
        .map((colours) => luminanceOf(colours[look]!))
        .toSorted((a, b) => a - b);
      expect((light! + 0.05) / (dark! + 0.05)).toBeGreaterThanOrEqual(3);
    }
  },
);
