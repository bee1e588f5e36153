/** A bus that can start nothing but xfconf, so that "no notification daemon" really means none. */
export function busConfig(socket: string, services: string): string {
  return `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path=${socket}</listen>
  <servicedir>${services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
}

/** One panel at the top with nothing but a tray at its right end. */
export function panelConfig(theme: 'dark' | 'light'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array"><value type="int" value="1"/>
    <property name="dark-mode" type="bool" value="${theme === 'dark'}"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="32"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/><value type="int" value="2"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="separator">
      <property name="expand" type="bool" value="true"/><property name="style" type="uint" value="0"/>
    </property>
    <property name="plugin-2" type="string" value="systray">
      <property name="icon-size" type="int" value="24"/><property name="square-icons" type="bool" value="true"/>
    </property>
  </property>
</channel>
`;
}

/** Every notification stays until it is clicked or closed, in equally high rows; a left click runs the action. */
export const DUNSTRC = `[global]
    monitor = 0
    width = 360
    height = 200
    origin = top-right
    offset = 12x44
    notification_limit = 20
    idle_threshold = 0
    show_age_threshold = -1
    sort = no
    font = DejaVu Sans 10
    history_length = 100
    format = "<b>%s</b>\\n%b"
    word_wrap = no
    ignore_newline = yes
    min_icon_size = 0
    max_icon_size = 32
    show_indicators = no
    mouse_left_click = do_action, close_current
    mouse_right_click = close_current
    browser = /bin/true
`;
