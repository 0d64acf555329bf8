//! Options of an instance: names, types, ranges, values.

use super::{Highs, text};
use crate::error::Error;
use highs_sys as sys;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

/// Type and value of an option of HiGHS, with its range if it is a number.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionInfo {
    Bool { value: bool },
    Int { value: i32, least: i32, most: i32 },
    Float { value: f64, least: f64, most: f64 },
    Text { value: String },
}

/// Function of HiGHS that returns value, minimum, maximum and default of an option.
type Ask<T> =
    unsafe extern "C" fn(*const c_void, *const c_char, *mut T, *mut T, *mut T, *mut T) -> sys::HighsInt;

impl Highs {
    /// Returns the names of all options.
    pub fn option_names(&self) -> Vec<String> {
        // SAFETY: the instance is alive.
        let options = unsafe { sys::Highs_getNumOptions(self.at()) };
        (0..options)
            .filter_map(|index| {
                let mut name: *mut c_char = ptr::null_mut();
                // SAFETY: HiGHS writes the address of a terminated string that it allocated with malloc.
                unsafe {
                    if sys::Highs_getOptionName(self.at(), index, &raw mut name) == sys::STATUS_ERROR
                        || name.is_null()
                    {
                        return None;
                    }
                    let owned = CStr::from_ptr(name).to_string_lossy().into_owned();
                    free(name.cast());
                    Some(owned)
                }
            })
            .collect()
    }

    /// Returns type, value and range of an option; `None` if no option has this name.
    pub fn option_info(&self, name: &str) -> Option<OptionInfo> {
        let name = CString::new(name).ok()?;
        let name = name.as_ptr();
        let mut kind = -1;
        // SAFETY: terminated name, places to write to; text values are shorter than the documented maximum.
        unsafe {
            // The query for the type of an unknown option prints nothing while console output is off.
            if sys::Highs_getOptionType(self.at(), name, &raw mut kind) != sys::STATUS_OK {
                return None;
            }
            match kind {
                sys::kHighsOptionTypeBool => {
                    let mut value = 0;
                    let status = sys::Highs_getBoolOptionValue(self.at(), name, &raw mut value);
                    (status == sys::STATUS_OK).then_some(OptionInfo::Bool { value: value != 0 })
                }
                sys::kHighsOptionTypeInt => self
                    .numbers(name, sys::Highs_getIntOptionValues)
                    .map(|[value, least, most]| OptionInfo::Int { value, least, most }),
                sys::kHighsOptionTypeDouble => self
                    .numbers(name, sys::Highs_getDoubleOptionValues)
                    .map(|[value, least, most]| OptionInfo::Float { value, least, most }),
                _ => {
                    let mut buffer = vec![0_u8; sys::kHighsMaximumStringLength as usize + 1];
                    let status = sys::Highs_getStringOptionValue(self.at(), name, buffer.as_mut_ptr().cast());
                    let value = CStr::from_bytes_until_nul(&buffer).ok()?.to_string_lossy().into_owned();
                    (status == sys::STATUS_OK).then_some(OptionInfo::Text { value })
                }
            }
        }
    }

    /// Returns value, minimum and maximum of a number option.
    ///
    /// # Safety
    /// `name` ends with a null byte, and `ask` is the function of HiGHS for options of type `T`.
    unsafe fn numbers<T: Copy + Default>(&self, name: *const c_char, ask: Ask<T>) -> Option<[T; 3]> {
        let [mut value, mut least, mut most] = [T::default(); 3];
        // SAFETY: as above; places to write to, except for the default, which is not requested.
        let status =
            unsafe { ask(self.at(), name, &raw mut value, &raw mut least, &raw mut most, ptr::null_mut()) };
        (status == sys::STATUS_OK).then_some([value, least, most])
    }

    pub fn set_bool(&mut self, name: &str, value: bool) -> Result<bool, Error> {
        let name = text(name)?;
        // SAFETY: a terminated name.
        let status = unsafe { sys::Highs_setBoolOptionValue(self.at(), name.as_ptr(), i32::from(value)) };
        Ok(status == sys::STATUS_OK)
    }

    pub fn set_int(&mut self, name: &str, value: i32) -> Result<bool, Error> {
        let name = text(name)?;
        // SAFETY: a terminated name.
        Ok(unsafe { sys::Highs_setIntOptionValue(self.at(), name.as_ptr(), value) } == sys::STATUS_OK)
    }

    pub fn set_float(&mut self, name: &str, value: f64) -> Result<bool, Error> {
        let name = text(name)?;
        // SAFETY: a terminated name.
        Ok(unsafe { sys::Highs_setDoubleOptionValue(self.at(), name.as_ptr(), value) } == sys::STATUS_OK)
    }

    pub fn set_text(&mut self, name: &str, value: &str) -> Result<bool, Error> {
        let (name, value) = (text(name)?, text(value)?);
        // SAFETY: terminated strings, copied by HiGHS.
        let status = unsafe { sys::Highs_setStringOptionValue(self.at(), name.as_ptr(), value.as_ptr()) };
        Ok(status == sys::STATUS_OK)
    }
}

unsafe extern "C" {
    /// Frees a string that HiGHS allocated for its caller (function of the C library).
    fn free(address: *mut c_void);
}
