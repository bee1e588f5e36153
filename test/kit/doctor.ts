import type { TrayHome } from './tray-process.ts';

export interface DoctorCheck {
  readonly name: string;
  readonly is: 'ok' | 'warn' | 'fail' | 'skipped';
  readonly seen: string;
  readonly next: string | null;
}

/** What `hivebar doctor --json` said. */
export interface DoctorRun {
  readonly code: number | null;
  /** One of its checks. @throws when it has no such check */
  findCheck(name: string): DoctorCheck;
  readonly reasons: Readonly<Record<'icon' | 'banner' | 'mail', { readonly fail: string[]; readonly warn: string[] }>>;
  /** For messages of assertions. */
  readonly text: string;
}

/** Runs it to its end. */
export async function doctor(home: TrayHome, env: Readonly<Record<string, string>> = {}): Promise<DoctorRun> {
  const { code, stdout, stderr } = await home.run(['doctor', '--json'], { env });
  if (!stdout.startsWith('{')) throw new Error(`no report: ${stdout}${stderr}`);
  const { checks, reasons } = JSON.parse(stdout) as { checks: DoctorCheck[]; reasons: DoctorRun['reasons'] };
  return {
    code,
    reasons,
    text: stdout.replaceAll('},{', '},\n{'),
    findCheck(name) {
      const found = checks.find((check) => check.name === name);
      if (found === undefined) throw new Error(`no check ${name} in:\n${stdout}`);
      return found;
    },
  };
}
