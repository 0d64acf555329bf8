mod imports;
