/** Returns the operating system that this process runs on. */
export function getHostOs(): NodeJS.Platform {
  return process.platform;
}
