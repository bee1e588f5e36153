import { type Finding, ok, warn } from './finding.ts';

export interface ProxyProbe {
  readonly names: readonly string[];
  readonly hasFarHive: boolean;
}

export function listProxyNames(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^(https?|all|no)_proxy$/i.test(name) && env[name] !== '')
    .sort();
}

/** Values of the variables are not shown, because they can hold passwords. */
export function judgeProxy({ names, hasFarHive }: ProxyProbe): Finding {
  const set = names.filter((name) => !/^no_proxy$/i.test(name));
  if (set.length === 0) return ok('no proxy variable is set');
  const text = `${set.join(', ')} ${set.length === 1 ? 'is' : 'are'} set, and ignored: hives are asked directly`;
  return hasFarHive ? warn(text, 'check that remote hives can be reached without a proxy') : ok(text);
}
