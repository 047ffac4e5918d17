// The screens of the app, in the order of the navigation: a new one is a line here and a folder under
// screens/. Outreach and campaigns will find their place in the same list.
import type { Icon } from "@tabler/icons-react";
import type { ComponentType } from "react";

export interface Screen {
  path: string;
  name: string;
  icon: Icon;
  load: () => Promise<{ default: ComponentType }>;
}

export const screens: readonly Screen[] = [];
