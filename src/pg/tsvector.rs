//! Reading `tsvector` values: lexemes, frequencies, length. Read only; PostgreSQL makes them.
//!
//! Layout (`tsearch/ts_type.h`): varlena header, `int32` number of entries, then one 4-byte entry a lexeme
//! (bit 0: has positions, bits 1–11: length, bits 12–31: offset), sorted by their bytes, then the lexemes,
//! each followed (2-byte aligned) by a `uint16` count and that many `uint16` positions.

use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::{Datum, UnboxDatum};
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{FromDatum, IntoDatum};

/// A detoasted `tsvector`, valid as long as the memory context it was read in.
#[derive(Clone, Copy)]
pub struct TsVector {
    datum: pg_sys::Datum,
    bytes: &'static [u8],
}

impl TsVector {
    /// Number of distinct lexemes.
    pub fn len(&self) -> usize {
        self.word(0).unwrap_or(0) as usize
    }

    fn word(&self, index: usize) -> Option<u32> {
        let at = index.checked_mul(4)?;
        self.bytes.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Lexeme and frequency of entry `index`; a lexeme without positions counts once.
    fn entry(&self, index: usize) -> Option<(&'static [u8], u32)> {
        let packed = self.word(1 + index)?;
        let (has_positions, length, offset) =
            (packed & 1 == 1, (packed >> 1 & 0x7FF) as usize, (packed >> 12) as usize);
        let strings = 4 + self.len() * 4;
        let start = strings + offset;
        let lexeme = self.bytes.get(start..start + length)?;
        if !has_positions {
            return Some((lexeme, 1));
        }
        let at = strings + (offset + length).next_multiple_of(2);
        let count = self.bytes.get(at..at + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]))?;
        Some((lexeme, u32::from(count).max(1)))
    }

    /// All lexemes with their frequencies.
    pub fn lexemes(&self) -> impl Iterator<Item = (&'static [u8], u32)> + '_ {
        (0..self.len()).filter_map(|index| self.entry(index))
    }

    /// Frequency of a lexeme, 0 if it is not there. Binary search in the order PostgreSQL keeps.
    pub fn frequency(&self, lexeme: &[u8]) -> u32 {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((here, count)) = self.entry(middle) else { return 0 };
            match here.cmp(lexeme) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return count,
            }
        }
        0
    }

    /// Number of words: the sum of all frequencies.
    pub fn total(&self) -> u32 {
        self.lexemes().fold(0u32, |sum, (_, count)| sum.saturating_add(count))
    }
}

/// `to_tsvector(configuration, text)`, as PostgreSQL computes it.
pub fn to_tsvector(configuration: pg_sys::Oid, text: &str) -> Option<TsVector> {
    // SAFETY: to_tsvector_byid takes (regconfig, text) and returns a tsvector.
    unsafe {
        pgrx::direct_function_call::<TsVector>(
            pg_sys::to_tsvector_byid,
            &[Some(pg_sys::Datum::from(configuration)), text.into_datum()],
        )
    }
}

/// The vector without positions, which makes it smaller.
pub fn strip(vector: TsVector) -> Option<TsVector> {
    // SAFETY: tsvector_strip takes and returns a tsvector.
    unsafe { pgrx::direct_function_call::<TsVector>(pg_sys::tsvector_strip, &[Some(vector.datum)]) }
}

/// Both vectors in one.
pub fn concat(left: TsVector, right: TsVector) -> Option<TsVector> {
    // SAFETY: tsvector_concat takes two tsvectors and returns one.
    unsafe {
        pgrx::direct_function_call::<TsVector>(
            pg_sys::tsvector_concat,
            &[Some(left.datum), Some(right.datum)],
        )
    }
}

/// Number of the column `oid`, the first of every catalog that has one.
const OID_COLUMN: i16 = 1;

/// Oid of a text search configuration in a schema.
pub fn configuration_oid(name: &std::ffi::CStr, schema: pg_sys::Oid) -> Option<pg_sys::Oid> {
    // SAFETY: a syscache look-up by name and schema.
    let oid = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::TSCONFIGNAMENSP as i32,
            OID_COLUMN,
            pg_sys::Datum::from(name.as_ptr()),
            pg_sys::Datum::from(schema),
            pg_sys::Datum::from(0usize),
            pg_sys::Datum::from(0usize),
        )
    };
    (oid != pg_sys::InvalidOid).then_some(oid)
}

impl FromDatum for TsVector {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null || datum.is_null() {
            return None;
        }
        let plain = pg_sys::pg_detoast_datum(datum.cast_mut_ptr());
        let bytes = pgrx::varlena::varlena_to_byte_slice(plain);
        Some(Self {
            datum: pg_sys::Datum::from(plain),
            bytes: std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()),
        })
    }
}

impl IntoDatum for TsVector {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        Some(self.datum)
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TSVECTOROID
    }
}

// SAFETY: reads the datum only; the value lives as long as the call's memory context.
unsafe impl UnboxDatum for TsVector {
    type As<'src> = TsVector;
    unsafe fn unbox<'src>(datum: Datum<'src>) -> TsVector
    where
        Self: 'src,
    {
        TsVector::from_datum(datum.sans_lifetime(), false)
            .unwrap_or(TsVector { datum: pg_sys::Datum::from(0usize), bytes: &[] })
    }
}

// SAFETY: the argument is a `tsvector` datum by the SQL declaration.
unsafe impl<'fcx> ArgAbi<'fcx> for TsVector {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        arg.unbox_arg_using_from_datum()
            .unwrap_or(TsVector { datum: pg_sys::Datum::from(0usize), bytes: &[] })
    }
}

// SAFETY: the datum was made in the current call and is returned as it is.
unsafe impl BoxRet for TsVector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        fcinfo.return_raw_datum(self.datum)
    }
}

// SAFETY: names an existing SQL type.
unsafe impl SqlTranslatable for TsVector {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(TsVector);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("tsvector"));
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> =
        Ok(ReturnsRef::One(SqlMappingRef::literal("tsvector")));
}
