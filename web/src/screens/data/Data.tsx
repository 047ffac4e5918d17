// Posts come in from a file, a whole workspace leaves as one.
import { Stack } from "@mantine/core";

import { useMay } from "../../api/me";
import { Page } from "../../ui/Page";
import { Export } from "./Export";
import { Import } from "./Import";

export default function Data() {
  const [editor, admin] = [useMay("editor"), useMay("admin")];
  return (
    <Page title="Import and export" says="Posts come in from a spreadsheet; everything can be taken along.">
      <Stack>
        <Import mayImport={editor} />
        <Export mayExport={admin} />
      </Stack>
    </Page>
  );
}
