/** The operating system this process runs on. */
export function hostOs(): NodeJS.Platform {
  return process.platform;
}
