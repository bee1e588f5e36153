import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Area {
  readonly width: number;
  readonly height: number;
}

/** Cuts the upper right corner out of a picture, or takes it whole, and makes it small. Needs ImageMagick. */
export async function saveScreenshot(from: string, folder: string, name: string, corner: Area | null): Promise<void> {
  const cut =
    corner === null ? [] : ['-gravity', 'NorthEast', '-crop', `${corner.width}x${corner.height}+0+0`, '+repage'];
  const small = ['-strip', '+dither', '-colors', '256', '-define', 'png:compression-level=9'];
  await run('convert', [from, ...cut, ...small, join(folder, name)]);
  rmSync(from);
}
