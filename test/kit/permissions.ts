/** A program that becomes another one, for which modes of files hold also where the tests are run by root; see `CliOptions.wrap`. */
export const WITHOUT_ROOT: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
